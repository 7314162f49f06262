import pytest

import shardc.runtime as rt
from shardc.runtime.choices import Choice
from shardc.runtime.members import listed, whole_outputs

from .choosing import chosen
from .tiny_model import FORMATS


def choices(tensors: list[rt.Tensor], headers: dict[str, rt.Header]) -> dict[str, Choice | None]:
    return {tensor.name: chosen(tensor, FORMATS, headers) for tensor in tensors}


def tensor(name: str, load: str | None = None) -> rt.Tensor:
    return rt.Tensor(
        name, rt.Family((8, 8), "replicated", ("BF16", "F32"), load=load, formats=("dense", "packed"), optional=True)
    )


def packed(stem: str, *optional: str) -> dict[str, rt.Header]:
    return {
        f"{stem}.weight": rt.Header("U8", (8, 4)),
        f"{stem}.weight_scale": rt.Header("F8_E4M3", (8, 1)),
        f"{stem}.weight_scale_2": rt.Header("F32", ()),
    } | {f"{stem}.{name}": rt.Header("F32", ()) for name in optional}


TWO = rt.Output("ab.weight", ("a.weight", "b.weight"))
BF16, F32 = rt.Header("BF16", (8, 8)), rt.Header("F32", (8, 8))


@pytest.mark.parametrize(
    ("headers", "loads", "whole"),
    [
        ({"a.weight": BF16, "b.weight": BF16}, (None, None), True),
        ({}, (None, None), False),
        ({"a.weight": BF16, "b.weight": F32}, ("F32", None), True),
        (packed("a") | packed("b"), (None, None), True),
        (packed("a", "input_scale") | packed("b", "input_scale"), (None, None), True),
    ],
)
def test_all_or_none(headers: dict[str, rt.Header], loads: tuple[str | None, str | None], whole: bool) -> None:
    tensors = [tensor(f"{name}.weight", load) for name, load in zip("ab", loads, strict=True)]
    assert whole_outputs([TWO], tensors, choices(tensors, headers)) == ([TWO] if whole else [])


@pytest.mark.parametrize(
    ("headers", "finding"),
    [
        ({"b.weight": BF16}, ("SHD401", "ab.weight would be built of b.weight without a.weight")),
        ({"a.weight": BF16, "b.weight": F32},
         ("SHD420", "ab.weight would be of several dtypes: a.weight in BF16 (dense); b.weight in F32 (dense)")),
        (packed("a") | {"b.weight": BF16},
         ("SHD420", "ab.weight would be of several dtypes: a.weight in U8 (packed); b.weight in BF16 (dense)")),
        (packed("a") | packed("b", "input_scale"),
         ("SHD401", "ab.input_scale would be built of b.input_scale without a.input_scale")),
    ],
)  # fmt: skip
def test_some(headers: dict[str, rt.Header], finding: tuple[str, str]) -> None:
    tensors = [tensor("a.weight"), tensor("b.weight")]
    with pytest.raises(rt.ShardError) as refused:
        whole_outputs([TWO], tensors, choices(tensors, headers))
    assert refused.value.findings == (finding,)


def test_a_tensor_that_the_module_does_not_have_here() -> None:
    """A condition may leave out all members of an output, or some."""
    alone = [tensor("a.weight")]
    assert whole_outputs([TWO], [], {}) == []
    with pytest.raises(rt.ShardError, match=r"without b\.weight"):
        whole_outputs([TWO], alone, choices(alone, {"a.weight": BF16}))


def test_every_output_at_fault() -> None:
    tensors = [tensor(f"{name}.weight") for name in "abcd"]
    two = [TWO, rt.Output("cd.weight", ("c.weight", "d.weight"))]
    with pytest.raises(rt.ShardError) as refused:
        whole_outputs(two, tensors, choices(tensors, {"a.weight": BF16, "c.weight": BF16}))
    assert [code for code, _ in refused.value.findings] == ["SHD401", "SHD401"]


def test_listed() -> None:
    assert listed(["a", "b", "c"]) == "a, b, c"
    assert listed(["a", "b", "c", "d", "e"]) == "a, b, c and 2 more"
