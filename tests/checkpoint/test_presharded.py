from pathlib import Path

import pytest

from shardc.checkpoint.presharded import already_cut


def touch(directory: Path, *files: str) -> None:
    for file in files:
        (directory / file).touch()


def test_files_of_ranks(tmp_path: Path) -> None:
    touch(tmp_path, *(f"model-rank-{rank}-part-{part}.safetensors" for rank in range(16) for part in (0, 1)))
    finding = already_cut(tmp_path, 8)
    assert finding is not None
    assert (finding.code, finding.message) == ("SHD412", f"{tmp_path}: is cut for 16 ranks already, and tp=8 is asked")
    assert finding.values[1].value == (
        "model-rank-0-part-1.safetensors to model-rank-15-part-1.safetensors, of 16 ranks"
    )
    plain = already_cut(tmp_path, None)
    assert plain is not None
    assert plain.message == f"{tmp_path}: is cut for 16 ranks already"


@pytest.mark.parametrize(
    "files",
    [
        (),
        ("model-00001-of-00002.safetensors",),
        ("model-rank-0.safetensors", "model-rank-x-part-0.safetensors"),
        ("model-rank-0-part-0.safetensors", "model.safetensors.index.json"),
    ],
)
def test_other_directories(tmp_path: Path, files: tuple[str, ...]) -> None:
    touch(tmp_path, *files)
    assert already_cut(tmp_path, 8) is None


def test_what_shardc_wrote(tmp_path: Path) -> None:
    (tmp_path / "shardc.json").write_text('{"mesh": {"tp": 4, "ep": 2}}')
    finding = already_cut(tmp_path, 8)
    assert finding is not None
    assert (finding.code, finding.message) == (
        "SHD412",
        f"{tmp_path}: is cut for tp=4, ep=2 already, and tp=8 is asked",
    )
    assert (
        finding.help == f"point at the original checkpoint, or put it together again: `shardc merge {tmp_path} -o OUT`"
    )


@pytest.mark.parametrize(("text", "code"), [("{", "SHD406"), ("{}", "SHD412"), ('{"mesh": 7}', "SHD412")])
def test_a_manifest_of_something_else(tmp_path: Path, text: str, code: str) -> None:
    (tmp_path / "shardc.json").write_text(text)
    finding = already_cut(tmp_path, None)
    assert finding is not None
    assert finding.code == code
