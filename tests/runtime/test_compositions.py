"""A composition is what a loaded tensor holds."""

from collections.abc import Iterator, Mapping

import pytest
import torch

import shardc.runtime as rt
from shardc.runtime.compositions import composition_of, made_of
from shardc.runtime.planning import rank_tensors, take_survey
from shardc.runtime.shards import Layout
from shardc.runtime.spreading import composed

from . import test_placing
from .tiny_model import CONFIG, SPEC, full_tensors, headers_of, mesh


def test_rows_and_zeros_of_a_tensor() -> None:
    shards = rt.plan(SPEC.tensors, SPEC.formats, CONFIG, mesh(tp=(1, 2)), headers_of(full_tensors()))
    found = {name: composition_of(made) for name, made in made_of(shards, {}).items()}
    assert found["embed.weight"] == ((("", 6, 10), (None, 0, 2)), (("", 0, 8),))
    assert found["qkv.weight"] == ((("", 12, 24), ("", 27, 30), ("", 33, 36)), (("", 0, 8),))
    assert found["o_proj.bias"] == (((None, 0, 8),),)
    assert list(found) == [shard.name for shard in shards]


def test_sizes_of_its_own() -> None:
    layout = Layout("column_parallel", "packed", "I64", ("I64",), None, (2,), (((0, 2, 0),),), values=(4, 8))
    assert made_of([rt.Shard("w", layout)], {}) == {"w": layout}
    assert composition_of(layout) == ((("its own sizes [4, 8]", 0, 2),),)


@pytest.mark.parametrize(
    ("form", "first"),
    [
        ("concat", (("a", 12, 24), ("b", 2, 4))),
        ("interleave", (("a", 12, 18), ("b", 2, 3), ("a", 18, 24), ("b", 3, 4))),
    ],
)
def test_members_of_an_output(form: str, first: object) -> None:
    found = of_rank(test_placing.spec(form), test_placing.FULL, {"tp": (1, 2), "ep": (0, 1)})
    assert found["ab"] == (first, (("", 0, 2),))
    assert found["e"] == ((("e0", 0, 1), ("e1", 0, 1)), (("member 0", 0, 2),))
    assert list(found) == ["ab", "c", "e"]


@pytest.mark.parametrize("form", ["concat", "interleave", "permute"])
@pytest.mark.parametrize("tp", [(0, 1), (0, 2), (1, 2), (3, 4)])
def test_an_output_holds_what_its_runs_say(form: str, tp: tuple[int, int]) -> None:
    coordinates = {"tp": tp, "ep": (0, 1)}
    runs, _ = of_rank(test_placing.spec(form), test_placing.FULL, coordinates)["ab"]
    whole = torch.cat([test_placing.FULL[str(source)][start:stop] for source, start, stop in runs])
    loaded = rt.shard_tensors(test_placing.spec(form), test_placing.FULL, {}, rt.mesh(("tp", "ep"), extra=coordinates))
    assert torch.equal(loaded["ab"], whole)


def test_scalars_stand_in_the_order_of_the_output() -> None:
    def tensors(config: object, mesh: Mapping[str, rt.MeshDim], *_: object) -> Iterator[rt.Tensor | rt.Output]:
        yield rt.Tensor("a", rt.Family((), "replicated", ("F32",)))
        yield rt.Tensor("b", rt.Family((), "replicated", ("F32",)))
        yield rt.Tensor("c", rt.Family((), "replicated", ("F32",)))
        yield rt.Output("ba", ("b", "a"))
        yield rt.Output("alone", ("c",))

    scalar = torch.ones(())
    found = of_rank(rt.Spec(tensors, {}, (), ("tp",), ("F32",)), {"a": scalar, "b": scalar, "c": scalar}, {})
    assert found == {"ba": ((("b", 0, 1), ("a", 0, 1)),), "alone": ()}


def test_members_that_are_cut_apart_are_told_apart() -> None:
    """The columns of one member are whole, those of the other a half: rows of the output then differ in that."""

    def tensors(config: object, mesh: Mapping[str, rt.MeshDim], *_: object) -> Iterator[rt.Tensor | rt.Output]:
        part = rt.axis("columns", 4, mesh["tp"])
        yield rt.Tensor("a", rt.Family((1, 4), "row_parallel", ("F32",), at={1: ((part.start, part.stop),)}))
        yield rt.Tensor("b", rt.Family((1, 2), "replicated", ("F32",)))
        yield rt.Output("ab", ("a", "b"))
        yield rt.Output("stack", ("c",), slice=(0, 2))
        yield rt.Tensor("c", rt.Family((4,), "row_parallel", ("F32",), at={0: ((part.start, part.stop),)}))
        yield rt.Output("stack", ("d",), slice=(1, 2))
        yield rt.Tensor("d", rt.Family((2,), "replicated", ("F32",)))

    full = {"a": torch.ones(1, 4), "b": torch.ones(1, 2), "c": torch.ones(4), "d": torch.ones(2)}
    found = of_rank(rt.Spec(tensors, {}, (), ("tp",), ("F32",)), full, {"tp": (1, 2)})
    assert found["ab"] == (
        (("a of ((('', 2, 4),),)", 0, 1), ("b of ((('', 0, 2),),)", 0, 1)),
        (("", 2, 4),),
    )
    assert found["stack"] == (
        (("c of ((('member 0', 2, 4),),)", 0, 1), ("d of ((('member 0', 0, 2),),)", 0, 1)),
        (("member 0", 2, 4),),
    )


def of_rank(
    spec: rt.Spec,
    full: Mapping[str, torch.Tensor],
    coordinates: Mapping[str, tuple[int, int]],
) -> dict[str, object]:
    rank = rt.mesh(spec.mesh, extra=dict(coordinates))
    survey = take_survey(spec.tensors, spec.formats, {}, rank, headers_of(full))
    made = composed(*rank_tensors(spec.tensors, {}, rank, survey), survey, True)
    return {name: composition_of(one) for name, one in made.items()}
