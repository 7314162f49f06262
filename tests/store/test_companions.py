"""Small files go along; weights, large files and what is hidden do not."""

from __future__ import annotations

from pathlib import Path

import pytest

from shardc.store.companions import copy_small_files


def test_what_is_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shardc.store.companions.SMALL", 100)
    source, out = tmp_path / "source", tmp_path / "out"
    (source / "original").mkdir(parents=True)
    out.mkdir()
    for name in ("config.json", "tokenizer.model", "LICENSE"):
        (source / name).write_bytes(name.encode())
    for name in (
        "a.safetensors",
        "model.safetensors.index.json",
        "consolidated.00.pth",
        "x.gguf",
        "shardc.json",
        ".git",
    ):
        (source / name).touch()
    (source / "params.dat").write_bytes(b"x" * 101)
    assert copy_small_files(source, out) == ["params.dat"]
    assert {path.name: path.read_text() for path in out.iterdir()} == {
        name: name for name in ("config.json", "tokenizer.model", "LICENSE")
    }
    times = {path.name: path.stat().st_mtime_ns for path in out.iterdir()}
    (source / "LICENSE").write_text("another")
    copy_small_files(source, out)
    assert (out / "LICENSE").read_text() == "another"
    assert (out / "config.json").stat().st_mtime_ns == times["config.json"]
