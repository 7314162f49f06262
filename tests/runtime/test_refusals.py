from pathlib import Path

import pytest
import torch

import shardc.runtime as rt
from shardc.runtime.refusals import refuse_directory, refuse_packed

from .tiny_model import SPEC, full_tensors, mesh, write_checkpoint

STATE = "o_proj.weight.quant_state.bitsandbytes__nf4"


def refused(directory: Path, tp: int = 1) -> tuple[str, str]:
    with pytest.raises(rt.ShardError) as caught:
        refuse_directory(directory, tp)
    [finding] = caught.value.findings
    return finding


def test_files_of_ranks(tmp_path: Path) -> None:
    for rank in range(12):
        (tmp_path / f"model-rank-{rank}-part-0.safetensors").touch()
    code, text = refused(tmp_path, tp=8)
    assert code == "SHD412"
    assert text == (
        f"{tmp_path} is cut for 12 ranks already (model-rank-11-part-…), and tp=8 is asked: point at the original "
        "checkpoint, or reshard, merging the ranks' files into whole tensors first"
    )
    (tmp_path / "model.safetensors.index.json").touch()
    refuse_directory(tmp_path, 8)


def test_gguf(tmp_path: Path) -> None:
    (tmp_path / "model.gguf").touch()
    tail = "is GGUF, which is out of scope: convert it to safetensors, or get what it was made from"
    assert refused(tmp_path) == ("SHD414", f"{tmp_path} {tail}")
    assert refused(tmp_path / "model.gguf") == ("SHD414", f"{tmp_path}/model.gguf {tail}")
    (tmp_path / "model.safetensors").touch()
    refuse_directory(tmp_path, 1)


def test_weights_packed_by_bitsandbytes() -> None:
    weights = [f"layers.{i}.up_proj.weight" for i in range(3)]
    headers = {f"{weight}.quant_state.bitsandbytes__fp4": rt.Header("U8", (81,)) for weight in weights}
    with pytest.raises(rt.ShardError) as caught:
        refuse_packed({**headers, "norm.weight": rt.Header("F32", (4,))})
    [(code, text)] = caught.value.findings
    assert code == "SHD414"
    assert text.startswith("layers.0.up_proj.weight and 2 more weights are packed by bitsandbytes in 4 bits, which is")
    refuse_packed({"up_proj.weight.absmax": rt.Header("F32", (4,))})


def test_a_load_says_it_once(tmp_path: Path) -> None:
    packed = {"o_proj.weight": torch.zeros(96, 1, dtype=torch.uint8), STATE: torch.zeros(81, dtype=torch.uint8)}
    write_checkpoint(tmp_path, full_tensors() | packed)
    with pytest.raises(rt.ShardError, match=r"^SHD414: o_proj\.weight is packed by bitsandbytes in 4 bits") as caught:
        rt.load(SPEC, tmp_path, mesh())
    assert len(caught.value.findings) == 1
