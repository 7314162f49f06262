from shardc.runtime import Dim, Family, Format, Part, Tensor
from shardc.runtime.granules import granules

from .choosing import chosen

FORMATS = {
    "fp8_block": Format(
        (
            Part("{stem}.weight", ("F8_E4M3",), (Dim("out"), Dim("in"))),
            Part("{stem}.weight_scale_inv", ("F32",), (Dim("out", 128, ceil=True), Dim("in", 128, ceil=True))),
        )
    ),
    "nvfp4": Format(
        (
            Part("{stem}.weight", ("U8",), (Dim("out"), Dim("in", 2))),
            Part("{stem}.weight_scale", ("F8_E4M3",), (Dim("out"), Dim("in", 16))),
            Part("{stem}.weight_scale_2", ("F32",), ()),
        )
    ),
    "words": Format(
        (
            Part("{stem}.words", ("I32",), (Dim("in", 32, entries=3), Dim("out"))),
            Part("{stem}.scales", ("F16",), (Dim("in", 128, whole=True), Dim("out"))),
            Part("{stem}.blocks", ("U8",), (Dim(None), Dim("out", 4), Dim(None, entries=16))),
            Part("{stem}.zeros", ("I32",), (Dim("out", 64),), optional=True),
        )
    ),
}


def found(*tensors: Tensor) -> dict[str, int]:
    return dict(granules(tensors, {tensor.name: chosen(tensor, FORMATS) for tensor in tensors}))


def tensor(name: str, format: str, *units: tuple[str, int, int], shape: tuple[int, ...] = (1024, 1024)) -> Tensor:
    return Tensor(name, Family(shape, "replicated", ("BF16",), formats=(format,), units=units))


def test_dense_tensors_have_none() -> None:
    assert found(tensor("a", "dense", ("heads", 0, 128))) == {}


def test_a_unit_in_elements_of_the_axis() -> None:
    assert found(tensor("a", "fp8_block", ("inter", 0, 1))) == {"inter": 128}
    assert found(tensor("a", "fp8_block", ("heads", 0, 64))) == {"heads": 2}
    assert found(tensor("a", "fp8_block", ("heads", 0, 128))) == {"heads": 1}
    assert found(tensor("a", "fp8_block", ("heads", 0, 192))) == {"heads": 2}


def test_out_and_in_have_units_of_their_own() -> None:
    assert found(tensor("a", "nvfp4", ("inter", 0, 1), ("hidden", 1, 1))) == {"inter": 1, "hidden": 16}


def test_the_lcm_over_all_tensors() -> None:
    assert found(tensor("a", "nvfp4", ("inter", 1, 1)), tensor("b", "fp8_block", ("inter", 0, 48))) == {"inter": 16}
    assert found(tensor("a", "nvfp4", ("inter", 1, 1)), tensor("b", "fp8_block", ("inter", 0, 1))) == {"inter": 128}


def test_stacked_experts_are_never_inside_a_unit() -> None:
    stacked = tensor("a", "fp8_block", ("experts", 0, 1), ("inter", 1, 1), shape=(8, 1024, 1024))
    assert found(stacked) == {"inter": 128}


def test_any_other_axis_has_a_granule_of_one() -> None:
    assert granules([], {})["heads"] == 1


def test_dims_that_are_never_cut_and_parts_that_are_not_there_ask_for_nothing() -> None:
    """3 words of 32 inputs go together; the groups of 128 do not count, nor the zeros that the file lacks."""
    assert found(tensor("a", "words", ("inter", 1, 1), ("rows", 0, 1))) == {"inter": 32, "rows": 4}


def test_in_before_out() -> None:
    swapped = Tensor(
        "a", Family((1024, 1024), "replicated", ("BF16",), formats=("nvfp4",), units=(("inter", 0, 1),), swapped=True)
    )
    assert found(swapped) == {"inter": 16}
