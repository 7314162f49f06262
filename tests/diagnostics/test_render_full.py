"""The format `full`, character by character."""

from __future__ import annotations

from collections.abc import Mapping

from shardc.diagnostics import Diagnostic, Label, Span, Value
from shardc.diagnostics.render_full import render_full

QWEN = (
    "\n" * 13
    + "  kv_heads: {size: num_key_value_heads}\n"
    + "\n" * 16
    + "      k_proj.weight: {shape: [kv_heads * head_dim, hidden], shard: channel_rows}\n"
)
INDIVISIBLE = Diagnostic(
    code="SHD201",
    message="4 kv_heads cannot be dealt to 8 tp ranks",
    label=Label(Span("specs/qwen3_moe.yaml", 14, 13, 14, 40), "4 over 8: half a head each"),
    related=(Label(Span("specs/qwen3_moe.yaml", 31, 31, 31, 50), "512 rows / 8 = 64, which divides"),),
    values=(
        Value("num_key_value_heads", 4, "specs/configs/qwen3-30b-a3b.json:9"),
        Value("head_dim", 128, "specs/configs/qwen3-30b-a3b.json:3"),
        Value("tp", 8, "target qwen3-30b-a3b"),
    ),
    valid={"tp": (1, 2, 4)},
    notes=("a row count cannot see this",),
    help="to serve tp=8, let 2 ranks share a head: `if_fewer: replicate`",
    same_cause=("v_proj.weight (line 32)", "k_norm.weight (line 35)"),
)


def span(line: int, col: int, end_col: int, file: str = "x.yaml") -> Span:
    return Span(file, line, col, line, end_col)


def full(diagnostic: Diagnostic, files: Mapping[str, str], *, color: bool = False) -> list[str]:
    return render_full([diagnostic], read=files.get, color=color).split("\n")


def footers(diagnostic: Diagnostic) -> list[str]:
    return full(diagnostic, {})[1:]


def test_axis_that_cannot_be_dealt() -> None:
    assert full(INDIVISIBLE, {"specs/qwen3_moe.yaml": QWEN}) == [
        "error[SHD201]: 4 kv_heads cannot be dealt to 8 tp ranks",
        "  --> specs/qwen3_moe.yaml:14:13",
        "   |",
        "14 |   kv_heads: {size: num_key_value_heads}",
        "   |             ^^^^^^^^^^^^^^^^^^^^^^^^^^^ 4 over 8: half a head each",
        "...",
        "31 |       k_proj.weight: {shape: [kv_heads * head_dim, hidden], shard: channel_rows}",
        "   |                               ------------------- 512 rows / 8 = 64, which divides",
        "   |",
        "   = where num_key_value_heads = 4    specs/configs/qwen3-30b-a3b.json:9",
        "   =       head_dim            = 128  specs/configs/qwen3-30b-a3b.json:3",
        "   =       tp                  = 8    target qwen3-30b-a3b",
        "   = valid tp: 1, 2, 4",
        "   = note: a row count cannot see this",
        "   = help: to serve tp=8, let 2 ranks share a head: `if_fewer: replicate`",
        "   = same cause: v_proj.weight (line 32), k_norm.weight (line 35)",
        "   = more: shardc explain SHD201",
    ]


def test_misspelt_key() -> None:
    misspelt = Diagnostic("SHD102", "unknown field `shpae`", Label(span(7, 5, 10), "did you mean `shape`?"))
    assert full(misspelt, {"x.yaml": "\n" * 6 + "    shpae: [a]\n"}) == [
        "error[SHD102]: unknown field `shpae`",
        "  --> x.yaml:7:5",
        "   |",
        " 7 |     shpae: [a]",
        "   |     ^^^^^ did you mean `shape`?",
        "   |",
        "   = more: shardc explain SHD102",
    ]


def test_without_a_label_there_is_no_place() -> None:
    assert full(Diagnostic("SHD401", "missing `a`", severity="warning"), {}) == [
        "warning[SHD401]: missing `a`",
        "   = more: shardc explain SHD401",
    ]


def test_a_file_that_cannot_be_read_is_only_named() -> None:
    assert full(Diagnostic("SHD406", "broken", Label(span(3, 1, 2), "here")), {}) == [
        "error[SHD406]: broken",
        "  --> x.yaml:3:1",
        "   = more: shardc explain SHD406",
    ]


def test_a_label_in_another_file_has_its_own_block() -> None:
    claimed = Diagnostic(
        "SHD105",
        "`a` is claimed twice",
        Label(span(2, 1, 2), "again"),
        related=(Label(span(1, 1, 2, "y.yaml"), "first"), Label(span(1, 1, 2), "group"), Label(span(9, 1, 2, "gone"))),
    )
    assert full(claimed, {"x.yaml": "g:\na:\n", "y.yaml": "a:\n"}) == [
        "error[SHD105]: `a` is claimed twice",
        "  --> x.yaml:2:1",
        "   |",
        " 1 | g:",
        "   | - group",
        " 2 | a:",
        "   | ^ again",
        "   |",
        "  ::: y.yaml:1:1",
        "   |",
        " 1 | a:",
        "   | - first",
        "   |",
        "  ::: gone:9:1",
        "   = more: shardc explain SHD105",
    ]


def test_the_gutter_is_as_wide_as_the_largest_line_number() -> None:
    source = "\n" * 8 + "a: 1\n" + "\n" * 990 + "b: 2\n"
    found = Diagnostic("SHD112", "bad", Label(span(1000, 1, 2)), related=(Label(span(9, 1, 2)),))
    assert full(found, {"x.yaml": source}) == [
        "error[SHD112]: bad",
        "    --> x.yaml:1000:1",
        "     |",
        "   9 | a: 1",
        "     | -",
        "...",
        "1000 | b: 2",
        "     | ^",
        "     |",
        "     = more: shardc explain SHD112",
    ]


def test_values_are_spelt_as_in_config_json_and_aligned_by_screen_columns() -> None:
    values = (
        Value("tie", True),
        Value("名", None, "c.json:1"),
        Value("types", ("a", "b"), "c.json:2"),
        Value("s", "x"),
    )
    assert footers(Diagnostic("SHD112", "bad", values=values)) == [
        "   = where tie   = true",
        "   =       名    = null        c.json:1",
        '   =       types = ["a", "b"]  c.json:2',
        "   =       s     = x",
        "   = more: shardc explain SHD112",
    ]


def test_each_choice_has_a_line() -> None:
    assert footers(Diagnostic("SHD201", "bad", valid={"tp": (1, 2), "ep": (), "pack": ("rows",)})) == [
        "   = valid tp: 1, 2",
        "   = valid ep: none",
        "   = valid pack: rows",
        "   = more: shardc explain SHD201",
    ]


def test_six_tensors_of_the_same_cause_are_named() -> None:
    six = Diagnostic("SHD201", "bad", same_cause=tuple("abcdef"))
    eight = Diagnostic("SHD201", "bad", same_cause=tuple("abcdefgh"))
    assert footers(six)[0] == "   = same cause: a, b, c, d, e, f"
    assert footers(eight)[0] == "   = same cause: a, b, c, d, e, f and 2 more"


def test_findings_are_separated_by_a_blank_line_and_a_file_is_read_once() -> None:
    reads: list[str] = []

    def read(file: str) -> str:
        reads.append(file)
        return "a: 1\n"

    found = [Diagnostic("SHD112", message, Label(span(1, 1, 2))) for message in ("one", "two")]
    block = "  --> x.yaml:1:1\n   |\n 1 | a: 1\n   | ^\n   |\n   = more: shardc explain SHD112"
    assert render_full(found, read=read) == f"error[SHD112]: one\n{block}\n\nerror[SHD112]: two\n{block}"
    assert reads == ["x.yaml"]


def test_hostile_text_cannot_leave_its_place() -> None:
    hostile = "\x1b[31m\n::error::x\u202e"
    found = Diagnostic(
        "SHD402",
        f"unexpected {hostile}",
        Label(Span(hostile, 1, 4, 1, 5), hostile),
        values=(Value(hostile, hostile, hostile),),
        valid={hostile: (hostile,)},
        notes=(hostile,),
        help=hostile,
        same_cause=(hostile,),
    )
    shown = r"\x1b[31m\n::error::x\u202e"
    assert full(found, {hostile: "a: \x1b]0;b\x07"}) == [
        f"error[SHD402]: unexpected {shown}",
        f"  --> {shown}:1:4",
        "   |",
        r" 1 | a: \x1b]0;b\x07",
        f"   |    ^^^^ {shown}",
        "   |",
        f"   = where {shown} = {shown}  {shown}",
        f"   = valid {shown}: {shown}",
        f"   = note: {shown}",
        f"   = help: {shown}",
        f"   = same cause: {shown}",
        "   = more: shardc explain SHD402",
    ]


def test_colours() -> None:
    found = Diagnostic("SHD111", "unused", Label(span(1, 1, 2), "here"), (Label(span(1, 4, 5), "by"),), severity="hint")
    lines = full(found, {"x.yaml": "a: 1"}, color=True)
    assert lines == [
        "\x1b[1;36mhint[SHD111]\x1b[0m\x1b[1m: unused\x1b[0m",
        "  \x1b[1;34m-->\x1b[0m x.yaml:1:1",
        "\x1b[1;34m   |\x1b[0m",
        "\x1b[1;34m 1 |\x1b[0m a: 1",
        "\x1b[1;34m   |\x1b[0m \x1b[1;36m^\x1b[0m  \x1b[1;34m- by\x1b[0m",
        "\x1b[1;34m   |\x1b[0m \x1b[1;36mhere\x1b[0m",
        "\x1b[1;34m   |\x1b[0m",
        "   \x1b[1;34m=\x1b[0m more: shardc explain SHD111",
    ]


def test_errors_are_red_and_warnings_yellow() -> None:
    assert full(Diagnostic("SHD401", "m"), {}, color=True)[0].startswith("\x1b[1;31merror[SHD401]\x1b[0m")
    warning = Diagnostic("SHD401", "m", severity="warning")
    assert full(warning, {}, color=True)[0].startswith("\x1b[1;33mwarning[SHD401]\x1b[0m")
