from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
import torch

import shardc.runtime as rt
from shardc.runtime.buffers import Buffer
from shardc.runtime.resharding import allocate

from .conftest import CopyCounter
from .tiny_model import arange, write_checkpoint


def spec(form: str) -> rt.Spec:
    """Two tensors, of 4 heads of 6 rows and of 4 rows, put together in one form; and two experts, stacked."""

    def tensors(config: object, mesh: Mapping[str, rt.MeshDim], *_: object) -> Iterator[rt.Tensor | rt.Output]:
        heads = rt.axis("heads", 4, mesh["tp"])
        experts = rt.axis("experts", 2, mesh["ep"])
        yield rt.Tensor("a", rt.Family((24, 2), "channel_rows", ("F32",), at={0: ((heads.start * 6, heads.stop * 6),)}))
        yield rt.Tensor("b", rt.Family((4, 2), "head_rows", ("F32",), at={0: ((heads.start, heads.stop),)}))
        permuted = rt.Permuted("a", (rt.Granules(heads.local, 6, (rt.Turn((2, 3), (3, 1), (1, 2)),)),))
        yield {
            "concat": rt.Output("ab", ("a", "b")),
            "interleave": rt.Output("ab", ("a", "b"), by=(heads,)),
            "permute": rt.Output("ab", (permuted, "b")),
        }[form]
        yield rt.Tensor("c", rt.Family((3,), "replicated", ("F32",)))
        for expert in range(experts.start, experts.stop):
            yield rt.Tensor(f"e{expert}", rt.Family((2,), "expert_slices", ("F32",)))
            yield rt.Output("e", (f"e{expert}",), slice=(expert - experts.start, experts.local))

    return rt.Spec(tensors, {}, (), ("tp", "ep"), ("F32",))


FULL = {"a": arange(24, 2), "b": arange(4, 2) + 100, "c": arange(3), "e0": arange(2), "e1": arange(2) + 10}
TP = rt.mesh(("tp", "ep"), extra={"tp": (1, 2), "ep": (0, 1)})


@pytest.mark.parametrize(
    ("form", "first_column"),
    [
        ("concat", [*range(24, 48, 2), 104, 106]),
        ("interleave", [*range(24, 36, 2), 104, *range(36, 48, 2), 106]),
        ("permute", [24, 30, 26, 32, 28, 34, 36, 42, 38, 44, 40, 46, 104, 106]),
    ],
)
def test_one_copy_a_tensor(tmp_path: Path, copy_counter: CopyCounter, form: str, first_column: list[int]) -> None:
    """Rows go from the file to where they stay, all those of a tensor at once."""
    with copy_counter:
        parts = rt.shard_tensors(spec(form), FULL, {}, TP)
    loaded = rt.load(spec(form), write_checkpoint(tmp_path, FULL, {}), TP)
    assert all(torch.equal(loaded[name], part) for name, part in parts.items())
    assert list(loaded) == ["ab", "c", "e"]
    assert loaded["ab"][:, 0].tolist() == first_column
    assert loaded["e"].tolist() == [[0, 1], [10, 11]]
    assert copy_counter.copies == len(FULL) - 1  # c is the tensor given
    assert copy_counter.others == []


def test_the_files_names(tmp_path: Path) -> None:
    directory = write_checkpoint(tmp_path, FULL, {})
    loaded = rt.load(spec("concat"), directory, TP, fused=False)
    assert list(loaded) == ["a", "b", "c", "e0", "e1"]
    assert torch.equal(loaded["a"], FULL["a"][12:])


def test_tensors_in_memory_stay_as_they_are() -> None:
    before = {name: tensor.clone() for name, tensor in FULL.items()}
    parts = rt.shard_tensors(spec("concat"), FULL, {}, TP)
    parts["ab"].zero_()
    assert all(torch.equal(FULL[name], tensor) for name, tensor in before.items())
    assert parts["c"] is FULL["c"]


def test_on_the_device_of_the_first_tensor() -> None:
    given = {name: tensor.to("meta") for name, tensor in FULL.items()}
    part = rt.shard_tensors(spec("interleave"), given, {}, TP)["ab"]
    assert (part.device.type, part.shape) == ("meta", (14, 2))


def test_a_plan_has_the_files_tensors() -> None:
    one = spec("concat")
    assert [shard.name for shard in rt.plan(one.tensors, {}, {}, TP)] == ["a", "b", "c", "e0", "e1"]


def test_slices_that_are_no_tensor_are_zero() -> None:
    tensor = allocate(Buffer("w", "F32", (3, 2), 1), torch.device("cpu"))
    assert tensor[1:].tolist() == [[0, 0], [0, 0]]


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("form", ["concat", "interleave", "permute"])
def test_to_a_device(tmp_path: Path, form: str) -> None:
    one = spec(form)
    directory = write_checkpoint(tmp_path, FULL, {})
    on_host, on_device = rt.load(one, directory, TP), rt.load(one, directory, TP, device="cuda")
    assert all(torch.equal(on_device[key].cpu(), tensor) for key, tensor in on_host.items())
