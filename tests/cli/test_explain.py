"""`shardc explain`"""

from __future__ import annotations

from shardc.rules.explained import codes
from tests.cli.support import invoke


def test_a_code_in_any_case() -> None:
    result = invoke("explain", "shd201")
    assert result.exit_code == 0
    assert result.output.startswith("SHD201 indivisible-axis\n\n")
    assert "```" not in result.output and "## " not in result.output
    assert result.output == invoke("explain", "SHD201").output


def test_all_codes_are_listed() -> None:
    lines = invoke("explain").output.splitlines()
    assert [line.split()[0] for line in lines] == codes()
    assert "SHD201  indivisible-axis" in lines


def test_an_unknown_code() -> None:
    result = invoke("explain", "SHD991")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.splitlines()[-1] == "Error: no code SHD991; did you mean SHD901?"


def test_no_code_at_all() -> None:
    result = invoke("explain", "../SHD201")
    assert result.exit_code == 2
    assert (
        invoke("explain", "heads").stderr.splitlines()[-1] == "Error: no code heads; `shardc explain` lists all codes"
    )


def test_all_texts_as_one_page() -> None:
    result = invoke("explain", "--markdown")
    assert result.exit_code == 0
    assert result.output.startswith("# What shardc finds\n")
    assert "\n## SHD201 indivisible-axis\n\n### What it checks\n" in result.output


def test_what_the_library_has() -> None:
    result = invoke("explain", "gqa")
    assert result.exit_code == 0
    assert result.output.startswith("name: gqa\nabout: Grouped-query attention.")
    assert "\n  k_proj.weight: {shape: [kv_heads * head_dim, hidden]" in result.output
    assert invoke("explain", "marlin").output.startswith("name: marlin\n")
    assert invoke("explain", "nvfp4").output.startswith("name: nvfp4\n")
