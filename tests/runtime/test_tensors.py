import pytest

from shardc.runtime import Family, Part, Tensor


def of_dims(ndim: int, *, swapped: bool = False) -> Family:
    return Family((4,) * ndim, "replicated", ("BF16",), swapped=swapped)


@pytest.mark.parametrize(
    ("ndim", "dims"), [(1, {"out": 0}), (2, {"out": 0, "in": 1}), (3, {"out": 1, "in": 2}), (4, {"out": 2, "in": 3})]
)
def test_out_and_in_are_the_last_dims(ndim: int, dims: dict[str, int]) -> None:
    assert of_dims(ndim).roles == dims
    assert of_dims(ndim).leading == max(ndim - 2, 0)


@pytest.mark.parametrize(("ndim", "dims"), [(2, {"out": 1, "in": 0}), (3, {"out": 2, "in": 1})])
def test_in_before_out(ndim: int, dims: dict[str, int]) -> None:
    assert of_dims(ndim, swapped=True).roles == dims


@pytest.mark.parametrize(
    ("name", "part", "expected"),
    [
        ("q_proj.weight", "{stem}.weight_scale", "q_proj.weight_scale"),
        ("experts.gate_up_proj", "{stem}_blocks", "experts.gate_up_proj_blocks"),
        ("weight.weight", "{stem}.weight", "weight.weight"),
    ],
)
def test_names_of_parts(name: str, part: str, expected: str) -> None:
    assert Part(part, ("U8",), ()).named(Tensor(name, Family((4, 4), "replicated", ("BF16",))).stem) == expected
