import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

import shardc.runtime as rt

from .tiny_model import CONFIG, SPEC, equal, full_tensors, mesh, write_checkpoint, write_indexed_checkpoint


def load(
    directory: Path, *, tp: tuple[int, int] = (0, 1), ep: tuple[int, int] = (0, 1), dtype: torch.dtype | None = None
) -> dict[str, torch.Tensor]:
    return rt.load(SPEC, directory, mesh(tp, ep), dtype=dtype)


@pytest.mark.parametrize("format", ["dense", "block4", "packed"])
def test_one_rank_alone_loads_the_file(tmp_path: Path, format: str) -> None:
    full = full_tensors(format)
    loaded = load(write_checkpoint(tmp_path, full))
    assert loaded.keys() == full.keys() | {"lm_head.weight"}
    for name, tensor in full.items():
        expected = tensor.float() if name == "norm.weight" else tensor
        assert equal(loaded[name], expected), name


@pytest.mark.parametrize("write", [write_checkpoint, write_indexed_checkpoint])
def test_what_a_rank_keeps(tmp_path: Path, write: Callable[[Path, dict[str, torch.Tensor]], Path]) -> None:
    full = full_tensors("block4")
    loaded = load(write(tmp_path, full), tp=(3, 4), ep=(1, 2))
    qkv = full["qkv.weight"]
    assert torch.equal(loaded["qkv.weight"], torch.cat([qkv[18:24], qkv[27:30], qkv[33:36]]))
    assert torch.equal(loaded["o_proj.weight"], full["o_proj.weight"][:, 18:24])
    assert loaded["A_log"].tolist() == [6.0, 7.0]
    assert loaded["o_proj.bias"].tolist() == [0.0] * 8
    assert torch.equal(loaded["embed.weight"], torch.cat([full["embed.weight"][9:10], torch.zeros(2, 8)]))
    scale = "experts.2.down.weight_scale_inv"
    assert torch.equal(loaded[scale], full[scale][:, 3:4])
    assert "experts.0.up.weight" not in loaded


def test_in_the_order_of_the_spec(tmp_path: Path) -> None:
    loaded = list(load(write_indexed_checkpoint(tmp_path, full_tensors())))
    assert loaded[:4] == ["embed.weight", "qkv.weight", "o_proj.weight", "o_proj.bias"]


def test_a_rank_that_is_all_padding(tmp_path: Path) -> None:
    config = {"text_config": CONFIG["text_config"] | {"vocab_size": 2}}
    full = full_tensors() | {"embed.weight": torch.ones(2, 8)}
    loaded = load(write_checkpoint(tmp_path, full, config), tp=(3, 4))
    assert loaded["embed.weight"].tolist() == [[0.0] * 8]


def test_a_tied_tensor_is_its_twin(tmp_path: Path) -> None:
    loaded = load(write_checkpoint(tmp_path, full_tensors()), tp=(1, 2))
    assert loaded["lm_head.weight"] is loaded["embed.weight"]


def test_a_tied_tensor_that_is_there_is_read(tmp_path: Path) -> None:
    loaded = load(write_checkpoint(tmp_path, full_tensors() | {"lm_head.weight": torch.full((10, 8), 3.0)}))
    assert loaded["lm_head.weight"].flatten().tolist() == [3.0] * 80
    assert loaded["embed.weight"][0, 1] == 1.0


def test_a_tied_tensor_without_its_twin(tmp_path: Path, no_allocation: None) -> None:
    def tensors(*_: object) -> list[rt.Tensor]:
        return [
            rt.Tensor("embed", rt.Family((4,), "replicated", ("F32",), optional=True)),
            rt.Tensor("head", rt.Family((4,), "replicated", ("F32",), tied_to="embed")),
        ]

    directory = write_checkpoint(tmp_path, {})
    with pytest.raises(rt.ShardError) as caught:
        rt.load(rt.Spec(tensors, {}, (), ("tp",), ("F32",)), directory, rt.mesh(("tp",)))
    assert caught.value.findings == (("SHD401", "head is missing, and so is embed, to which it is tied"),)


def test_a_tied_tensor_whose_twin_is_on_other_ranks(tmp_path: Path, no_allocation: None) -> None:
    def tensors(_: object, mesh: Mapping[str, rt.MeshDim], *__: object) -> Iterator[rt.Tensor]:
        if mesh["pp"].is_first:
            yield rt.Tensor("embed", rt.Family((4,), "replicated", ("F32",)))
        if mesh["pp"].is_last:
            yield rt.Tensor("head", rt.Family((4,), "replicated", ("F32",), tied_to="embed"))

    spec = rt.Spec(tensors, {}, (), ("tp", "pp"), ("F32",))
    directory = write_checkpoint(tmp_path, {"embed": torch.zeros(4)})
    with pytest.raises(rt.ShardError) as caught:
        rt.load(spec, directory, rt.mesh(spec.mesh, extra={"pp": (1, 2)}))
    assert caught.value.findings == (("SHD401", "head is tied to embed, which this rank does not have"),)


def test_a_cast_is_for_tensors_of_the_default_dtype(tmp_path: Path) -> None:
    loaded = load(write_checkpoint(tmp_path, full_tensors("packed")), tp=(1, 2), dtype=torch.float16)
    assert loaded["qkv.weight"].dtype == torch.float16
    assert loaded["A_log"].dtype == torch.float32
    assert loaded["norm.weight"].dtype == torch.float32
    assert loaded["experts.0.up.weight_scale_2"].dtype == torch.float32
    assert loaded["experts.0.up.weight"].dtype == torch.uint8


def test_a_cast_to_something_else(tmp_path: Path) -> None:
    with pytest.raises(rt.ShardError, match=r"^SHD112: dtype torch\.int8 is not one of F16, BF16, F32, F64$"):
        load(tmp_path, dtype=torch.int8)


def test_progress_counts_local_bytes(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    directory = write_indexed_checkpoint(tmp_path, full_tensors())
    loaded = rt.load(SPEC, directory, mesh(tp=(1, 2)), progress=lambda done, total: seen.append((done, total)))
    del loaded["lm_head.weight"]
    total = sum(tensor.nbytes for tensor in loaded.values())
    assert len(seen) == 3  # before the first byte, and after each window: one of each small file
    assert seen[0] == (96, total)  # what no file holds: the bias of the first rank, rows of padding
    assert seen == sorted(seen)
    assert seen[-1] == (total, total)


def test_ignored_tensors_are_not_loaded(tmp_path: Path) -> None:
    assert "visual.x" not in load(write_checkpoint(tmp_path, full_tensors() | {"visual.x": torch.ones(2)}))


@pytest.mark.usefixtures("no_allocation")
def test_all_faults_before_any_allocation(tmp_path: Path) -> None:
    full = full_tensors("block4") | {"extra": torch.ones(2), "A_log": torch.ones(9)}
    del full["norm.weight"], full["experts.1.up.weight_scale_inv"]
    with pytest.raises(rt.ShardError) as caught:
        load(write_checkpoint(tmp_path, full), tp=(1, 2))
    assert caught.value.findings == (
        ("SHD401", "norm.weight is missing"),
        ("SHD401", "experts.1.up.weight_scale_inv is missing: experts.1.up.weight is F8_E4M3 (block4)"),
        ("SHD403", "A_log: shape [9] in the file, [8] by the spec"),
        ("SHD402", "extra is unexpected: no entry of the spec claims it"),
    )


@pytest.mark.usefixtures("no_allocation")
@pytest.mark.parametrize(
    ("tp", "texts"),
    [
        (
            3,
            [
                "2 kv_heads cannot be dealt to 3 tp ranks: fewer than the ranks, and 3 is not a multiple of 2",
                "16 inter cannot be dealt to 3 tp ranks: 5.33 each",
            ],
        ),
        (16, ["4 heads of one kv_heads cannot be shared by 8 ranks"]),
    ],
)
def test_a_mesh_that_does_not_fit(tmp_path: Path, tp: int, texts: list[str]) -> None:
    """Every axis that cannot be dealt is told of at once."""
    with pytest.raises(rt.ShardError) as caught:
        load(write_checkpoint(tmp_path, full_tensors()), tp=(0, tp))
    assert [found for _, found in caught.value.findings] == texts


@pytest.mark.usefixtures("no_allocation")
def test_a_truncated_file(tmp_path: Path) -> None:
    path = write_checkpoint(tmp_path, full_tensors()) / "model.safetensors"
    size = path.stat().st_size
    os.truncate(path, size - 4)
    with pytest.raises(rt.ShardError) as caught:
        load(tmp_path)
    text = f"model.safetensors: {size - 4} bytes in the file, but its tensors end at byte {size}"
    assert caught.value.findings == (("SHD406", text),)


def test_a_file_truncated_while_it_is_read(tmp_path: Path) -> None:
    directory = write_indexed_checkpoint(tmp_path, full_tensors())
    last = directory / "b.safetensors"
    with pytest.raises(rt.ShardError) as caught:
        rt.load(SPEC, directory, mesh(), threads=1, progress=lambda done, total: os.truncate(last, 700))
    text = "b.safetensors: embed.weight takes bytes 536..856, but the file has 700"
    assert caught.value.findings == (("SHD406", text),)


def test_the_result_does_not_depend_on_the_file(tmp_path: Path) -> None:
    path = write_checkpoint(tmp_path, full_tensors()) / "model.safetensors"
    loaded = load(tmp_path)
    save_file({"x": torch.zeros(1)}, path)
    assert loaded["A_log"].tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]
    maps = Path("/proc/self/maps")
    assert not maps.exists() or str(path) not in maps.read_text()


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_load_to_a_device(tmp_path: Path) -> None:
    directory = write_checkpoint(tmp_path, full_tensors("packed"))
    on_host = load(directory, tp=(1, 2), dtype=torch.bfloat16)
    on_device = rt.load(SPEC, directory, mesh(tp=(1, 2)), device="cuda", dtype=torch.bfloat16)
    assert all(tensor.is_cuda for tensor in on_device.values())
    assert all(equal(on_device[name].cpu(), on_host[name]) for name in on_host)
