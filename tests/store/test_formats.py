"""Every format of the library: a rank loads from its own files what it loads from the original, byte for byte."""

from __future__ import annotations

from pathlib import Path

import pytest

from shardc.emit.module import module
from tests.formats.checkpoints import config, tensors, text
from tests.formats.variants import VARIANTS
from tests.seeds.model import Model, write_checkpoint
from tests.store.support import coordinates, files, merge, same_tensors, shard


@pytest.mark.parametrize("name", VARIANTS)
def test_from_the_original_to_ranks_and_back(name: str, tmp_path: Path) -> None:
    (tmp_path / "module").mkdir()
    model = Model(text(VARIANTS[name]), tmp_path / "module")
    code = module(model.spec)
    original = write_checkpoint(tmp_path / "original", config(VARIANTS[name]), tensors(VARIANTS[name]))
    sizes = {"tp": 2, "ep": 2}
    cut = shard(code, original, tmp_path / "cut", sizes)
    for mesh in coordinates(sizes):
        assert same_tensors(model.module.load(cut, mesh=mesh), model.module.load(original, mesh=mesh))
    assert files(merge(cut, tmp_path / "merged")) == files(original)
    again = shard(code, cut, tmp_path / "again", {"tp": 4})
    assert files(again) == files(shard(code, original, tmp_path / "tp4", {"tp": 4}))
