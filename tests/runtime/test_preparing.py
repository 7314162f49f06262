from collections.abc import Iterator, Mapping

import pytest
import torch

import shardc.runtime as rt
from shardc.runtime.headers import Header
from shardc.runtime.planning import Mesh
from shardc.runtime.preparing import cast_name, parts_of_ranks
from shardc.runtime.presharded import Stock

from .tiny_model import CONFIG, SPEC, full_tensors, headers_of, mesh

HEADERS = headers_of(full_tensors())


def names(part: rt.Spec, meshes: list[Mesh]) -> list[list[str]]:
    return [
        [fill.shard.name for fill in each.fills]
        for each in parts_of_ranks(part, Stock(CONFIG, HEADERS), meshes, None, fused=True)
    ]


def test_the_parts_of_two_ranks() -> None:
    first, second = names(SPEC, [mesh((0, 2), (0, 2)), mesh((1, 2), (1, 2))])
    assert [name for name in first if "up" in name] == ["experts.0.up.weight", "experts.1.up.weight"]
    assert [name for name in second if "up" in name] == ["experts.2.up.weight", "experts.3.up.weight"]
    assert first[0] == second[0] == "embed.weight"


def test_no_ranks() -> None:
    assert parts_of_ranks(SPEC, Stock(CONFIG, HEADERS), [], None, fused=True) == []


def test_twins() -> None:
    [part] = parts_of_ranks(SPEC, Stock(CONFIG, HEADERS), [mesh()], None, fused=True)
    assert part.twins == {"lm_head.weight": "embed.weight"}


def test_the_file_is_surveyed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def tensors(config: object, mesh: Mapping[str, rt.MeshDim], *_: object) -> Iterator[rt.Tensor]:
        seen.append(mesh["tp"].size)
        yield rt.Tensor("w", rt.Family((4,), "replicated", ("F32",)))

    spec = rt.Spec(tensors, {}, (), ("tp",), ("F32",))
    meshes = [rt.mesh(("tp",), extra={"tp": (rank, 2)}) for rank in range(2)]
    parts_of_ranks(spec, Stock({}, {"w": Header("F32", (4,))}), meshes, None, fused=True)
    assert seen == [1, 2, 2]


def test_casts_of_the_default_dtype() -> None:
    [part] = parts_of_ranks(SPEC, Stock(CONFIG, HEADERS), [mesh()], "F16", fused=True)
    dtypes = {fill.shard.name: fill.buffer.dtype for fill in part.fills}
    assert (dtypes["qkv.weight"], dtypes["A_log"], dtypes["norm.weight"]) == ("F16", "F32", "F32")


@pytest.mark.parametrize(("dtype", "name"), [(None, None), (torch.bfloat16, "BF16"), (torch.float64, "F64")])
def test_names_of_casts(dtype: torch.dtype | None, name: str | None) -> None:
    assert cast_name(dtype) == name


@pytest.mark.parametrize("dtype", [torch.float8_e4m3fn, torch.bool, torch.complex64])
def test_no_casts_to_others(dtype: torch.dtype) -> None:
    with pytest.raises(rt.ShardError) as caught:
        cast_name(dtype)
    assert caught.value.findings == (("SHD112", f"dtype {dtype} is not one of F16, BF16, F32, F64"),)


def test_a_twin_of_a_tensor_in_an_output() -> None:
    def tensors(*_: object) -> Iterator[rt.Tensor | rt.Output]:
        yield rt.Tensor("a", rt.Family((4,), "replicated", ("F32",)))
        yield rt.Tensor("b", rt.Family((4,), "replicated", ("F32",)))
        yield rt.Tensor("c", rt.Family((4,), "replicated", ("F32",), tied_to="a"))
        yield rt.Output("ab", ("a", "b"))

    spec = rt.Spec(tensors, {}, (), ("tp",), ("F32",))
    headers = {name: Header("F32", (4,)) for name in "ab"}
    with pytest.raises(rt.ShardError) as caught:
        parts_of_ranks(spec, Stock({}, headers), [rt.mesh(("tp",))], None, fused=True)
    assert caught.value.findings == (("SHD105", "c is tied to a, which goes into ab"),)
    [part] = parts_of_ranks(spec, Stock({}, headers), [rt.mesh(("tp",))], None, fused=False)
    assert part.twins == {"c": "a"}


def test_an_output_of_which_the_file_has_a_part() -> None:
    def tensors(*_: object) -> Iterator[rt.Tensor | rt.Output]:
        for name in "ab":
            yield rt.Tensor(name, rt.Family((4,), "replicated", ("F32",), optional=True))
        yield rt.Output("ab", ("a", "b"))

    spec = rt.Spec(tensors, {}, (), ("tp",), ("F32",))
    with pytest.raises(rt.ShardError) as caught:
        parts_of_ranks(spec, Stock({}, {"a": Header("F32", (4,))}), [rt.mesh(("tp",))], None, fused=True)
    assert caught.value.code == "SHD401"
