"""`shardc report`: the file it writes, the checkpoint and mesh that it takes, and what stops it."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.support import Folder, invoke
from tests.review.pages.reports import embedded
from tests.support import ROOT

LLAMA = ROOT / "specs" / "llama.yaml"
NO_NAME = """\
Usage: shardc report [OPTIONS] SPEC
Try 'shardc report --help' for help.

Error: there is no checkpoint nope in specs/checkpoints/, and no such path; tiny.yaml names tiny
"""


def test_the_first_target_is_drawn(folder: Folder) -> None:
    result = invoke("report", folder.spec, "-o", "out.html")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "out.html: tiny on tiny, 4 plans proved\n"
    data = embedded(Path("out.html").read_text())
    assert [mesh["name"] for mesh in data["meshes"]] == ["tp=1", "tp=2", "tp=4", "tp=8"]
    assert data["meshes"][data["shown"]]["name"] == "tp=8"
    assert sorted(path.name for path in Path().iterdir()) == ["out.html", "specs"]


def test_a_mesh_is_shown_first(folder: Folder) -> None:
    assert invoke("report", folder.spec, "--tp", "2", "-o", "out.html").exit_code == 0
    data = embedded(Path("out.html").read_text())
    assert data["meshes"][data["shown"]]["name"] == "tp=2"


def test_a_size_that_does_not_work_is_a_finding_and_no_file(folder: Folder) -> None:
    result = invoke("report", folder.spec, "--tp", "3", "-o", "out.html")
    assert result.exit_code == 1
    assert result.stdout.startswith("error[SHD201]: 8 heads cannot be dealt to 3 tp ranks: 2.67 each\n")
    assert not Path("out.html").exists()


def test_a_claimed_size_that_does_not_work_is_left_out(folder: Folder) -> None:
    folder.edit("tp: [1, 2, 4, 8]", "tp: [3, 2]")
    assert invoke("report", folder.spec, "-o", "out.html").exit_code == 0
    data = embedded(Path("out.html").read_text())
    assert [mesh["name"] for mesh in data["meshes"]] == ["tp=2"]
    assert data["strips"][0]["sizes"][2] == [3, None, True, [0]]


def test_no_claimed_size_works(folder: Folder) -> None:
    folder.edit("tp: [1, 2, 4, 8]", "tp: [3, 5]")
    result = invoke("report", folder.spec, "-o", "out.html")
    assert result.exit_code == 1
    assert result.stdout.startswith("error[SHD201]: 8 heads cannot be dealt to 3 tp ranks: 2.67 each\n")
    assert not Path("out.html").exists()


def test_a_checkpoint_by_name_and_by_path(folder: Folder) -> None:
    table = json.loads(Path("specs/checkpoints/tiny.json").read_text())
    Path("specs/checkpoints/other.json").write_text(json.dumps(table))
    Path("elsewhere.json").write_text(json.dumps(table))
    for given, name in (("other", "other"), ("elsewhere.json", "elsewhere"), ("./specs/checkpoints/tiny.json", "tiny")):
        assert invoke("report", folder.spec, "--checkpoint", given, "-o", "out.html").exit_code == 0
        data = embedded(Path("out.html").read_text())
        assert (data["checkpoint"], [mesh["name"] for mesh in data["meshes"]]) == (
            name,
            ["tp=1", "tp=2", "tp=4", "tp=8"],
        )


def test_a_checkpoint_from_elsewhere_is_claimed_by_nobody(folder: Folder) -> None:
    """Though it has the name of one that is recorded."""
    table = Path("specs/checkpoints/tiny.json").read_text()
    (folder.path / "mine").mkdir()
    Path("mine/tiny.json").write_text(table)
    for given, claimed in (("mine/tiny.json", False), ("specs/checkpoints/tiny.json", True)):
        assert invoke("report", folder.spec, "--checkpoint", given, "-o", "out.html").exit_code == 0
        assert embedded(Path("out.html").read_text())["strips"][0]["sizes"][1][2] is claimed


def test_a_checkpoint_that_nobody_knows(folder: Folder) -> None:
    result = invoke("report", "specs/tiny.yaml", "--checkpoint", "nope", "-o", "out.html")
    assert (result.exit_code, result.stderr) == (2, NO_NAME)


def test_a_spec_without_targets(folder: Folder) -> None:
    folder.spec.write_text(folder.spec.read_text().partition("targets:")[0])
    result = invoke("report", "specs/tiny.yaml", "-o", "out.html")
    assert result.exit_code == 2
    assert result.stderr.endswith("Error: specs/tiny.yaml has no target; give --checkpoint\n")
    assert invoke("report", "specs/tiny.yaml", "--checkpoint", "tiny", "-o", "out.html").exit_code == 0


def test_a_spec_with_errors(folder: Folder) -> None:
    folder.edit("shard: channel_rows", "shard: channel_cols")
    result = invoke("report", folder.spec, "-o", "out.html")
    assert result.exit_code == 1 and "error[SHD210]" in result.stdout
    assert not Path("out.html").exists()


def test_a_config_that_lacks_a_symbol(folder: Folder) -> None:
    folder.edit("n_heads: num_heads", "n_heads: head_count")
    result = invoke("report", folder.spec, "-o", "out.html")
    assert result.exit_code == 1 and "error[SHD108]" in result.stdout


def test_mesh_dims_of_the_spec_and_others(folder: Folder) -> None:
    def stderr(*given: str) -> str:
        result = invoke("report", folder.spec, *given, "-o", "out.html")
        assert result.exit_code == 2
        return result.stderr.splitlines()[-1]

    assert stderr("--ep", "2") == "Error: no axis of tiny is over ep"
    assert stderr("--mesh", "attn=2") == "Error: no axis of tiny is over attn"
    assert stderr("--mesh", "attn") == "Error: Invalid value for '--mesh': attn is not NAME=N, with N from 1 to 64"
    assert stderr("--mesh", "tp=2") == "Error: Invalid value for '--mesh': tp has an option of its own: --tp 2"
    twice = stderr("--mesh", "a=2", "--mesh", "a=2")
    assert twice == "Error: Invalid value for '--mesh': a is given twice"
    assert stderr("--tp", "65") == "Error: Invalid value for '--tp': 65 is not in the range 1<=x<=64."
    folder.edit("axes: {heads: {size: n_heads}}", "axes: {heads: {size: n_heads, over: attn}}")
    assert stderr("--mesh", "attn=8", "--tp", "16") == "Error: a report draws 64 ranks at most; this mesh has 128"
    assert invoke("report", folder.spec, "--mesh", "attn=8", "-o", "out.html").exit_code == 0
    data = embedded(Path("out.html").read_text())
    assert data["meshes"][data["shown"]]["name"] == "attn=8"


def test_an_ep_mesh_of_a_real_checkpoint(tmp_path: Path) -> None:
    out = tmp_path / "out.html"
    assert invoke("report", ROOT / "specs" / "glm5_next.yaml", "--tp", "2", "--ep", "4", "-o", out).exit_code == 0
    data = embedded(out.read_text())
    assert data["meshes"][data["shown"]]["name"] == "tp=2 ep=4"
    assert len(data["meshes"]) == 19


def test_a_folder_that_is_not_there(folder: Folder) -> None:
    result = invoke("report", folder.spec, "-o", "nowhere/out.html")
    assert (result.exit_code, result.stderr.splitlines()[-1]) == (2, "Error: nowhere is not a folder")
