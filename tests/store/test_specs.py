"""Every spec with a small config: ranks' files load as the original does, and merge back into it."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import pytest
import torch

import generated
from tests.seeds.model import write_checkpoint
from tests.store.support import coordinates, files, merge, same_tensors, shard
from tests.support import ROOT

#: Those whose specs list a packed format first are dense here, and tested by their formats.
PACKED = {"deepseek_v4", "gpt_oss"}
SMALL = [path for path in sorted((ROOT / "specs" / "small").glob("*.json")) if path.stem not in PACKED]
MODULES = {
    name: importlib.import_module(f"generated.{name}")
    for name in sorted(path.stem for path in Path(generated.__file__).parent.glob("[a-z]*.py"))
}


def random_tensors(module: object, config: dict[str, object]) -> dict[str, torch.Tensor]:
    """A checkpoint as the spec has it first: every tensor of random bytes."""
    generator = torch.Generator().manual_seed(1)
    found = {}
    for one in module.plan(config, {}):  # type: ignore[attr-defined]
        dtype = module.rt.TORCH_DTYPES[one.dtype]  # type: ignore[attr-defined]
        data = torch.randint(0, 256, (max(one.full_bytes, 1),), generator=generator, dtype=torch.uint8)
        found[one.name] = data[: one.full_bytes].view(dtype).reshape(one.shape)
    return found


@pytest.mark.parametrize("path", SMALL, ids=lambda path: path.stem)
def test_a_small_model(path: Path, tmp_path: Path) -> None:
    config = json.loads(path.read_text())
    module = next(one for one in MODULES.values() if config["architectures"][0] in one.ARCHITECTURES)
    original = write_checkpoint(tmp_path / "original", config, random_tensors(module, config))
    sizes = dict.fromkeys(module.MESH, 1) | {dim: 2 for dim in ("tp", "ep", "pp") if dim in module.MESH}
    cut = shard(Path(module.__file__).read_text(), original, tmp_path / "cut", sizes)
    for mesh in coordinates(sizes):
        try:
            whole = module.load(original, mesh=mesh)
        except module.rt.ShardError as error:
            assert error.code == "SHD401"
            continue
        assert same_tensors(module.load(cut, mesh=mesh), whole)
    assert files(merge(cut, tmp_path / "merged")) == files(original)
