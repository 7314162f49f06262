"""A format in numbers: what the headers imply, else what the config says, else what the format has."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from shardc.plan.evidence import Header
from shardc.plan.formats import format_named
from shardc.plan.resolved import FormatPart
from shardc.plan.sized import HeaderOf, Weight, fits, fits_exactly, sized

#: 1024 outputs of 512 inputs.
WEIGHT = Weight({"out": 1024, "in": 512}, 0)
Ratios = dict[str, list[tuple[str | None, int | str, int | str]]]


def header_of(found: Mapping[str, tuple[int, ...]]) -> HeaderOf:
    """Headers of parts by the end of their names; dtypes do not matter here."""

    def header(part: FormatPart | None) -> Header | None:
        shape = found.get(part.name.removeprefix("{stem}.")) if part else None
        return None if shape is None else ("I32", shape)

    return header


def ratios(
    name: str, config: Mapping[str, object], found: Mapping[str, tuple[int, ...]] = {}, weight: Weight = WEIGHT
) -> Ratios:
    """For each part, of each dim: its role, and so many entries for so many elements."""
    format = sized(format_named(name), weight, config, header_of(found))
    return {p.name.removeprefix("{stem}."): [(d.role, d.unit, d.count) for d in p.dims] for p in format.parts}


def quantised(**fields: object) -> dict[str, object]:
    return {"quantization_config": fields}


AWQ = {"qweight": (512, 128), "qzeros": (4, 128), "scales": (4, 1024)}


def test_the_formats_own_sizes() -> None:
    assert ratios("awq", {}) == {
        "qweight": [("in", 1, 1), ("out", 8, 1)],
        "qzeros": [("in", 128, 1), ("out", 8, 1)],
        "scales": [("in", 128, 1), ("out", 1, 1)],
    }


@pytest.mark.parametrize(
    ("config", "unit"),
    [
        (quantised(group_size=64), 64),
        (quantised(group_size=64.0), 128),
        (quantised(group_size=True), 128),
        (quantised(group_size="64"), 128),
        (quantised(group_size=None), 128),
        ({"quantization_config": [1]}, 128),
    ],
)
def test_the_config_says(config: dict[str, object], unit: int) -> None:
    assert ratios("awq", config)["scales"] == [("in", unit, 1), ("out", 1, 1)]


def test_the_second_key_where_the_first_is_not_there() -> None:
    config = {"quantization": {"bits": 8}, "quantization_config": {"bits": 2, "group_size": 32}}
    assert ratios("mlx_affine", config)["weight"] == [("out", 1, 1), ("in", 4, 1)]
    assert ratios("mlx_affine", config)["scales"] == [("out", 1, 1), ("in", 32, 1)]


@pytest.mark.parametrize(
    ("bits", "ratio"), [(2, (16, 1)), (3, (32, 3)), (4, (8, 1)), (5, (32, 5)), (6, (16, 3)), (8, (4, 1))]
)
def test_values_in_words(bits: int, ratio: tuple[int, int]) -> None:
    """3 bits take 3 words for 32 values, 6 bits 3 words for 16."""
    assert ratios("gptq", quantised(bits=bits))["qweight"] == [("in", *ratio), ("out", 1, 1)]


def test_the_headers_decide() -> None:
    eight = {"qweight": (512, 256), "qzeros": (8, 256), "scales": (8, 1024)}
    assert ratios("awq", quantised(bits=4, group_size=128), eight) == {
        "qweight": [("in", 1, 1), ("out", 4, 1)],
        "qzeros": [("in", 64, 1), ("out", 4, 1)],
        "scales": [("in", 64, 1), ("out", 1, 1)],
    }


def test_the_config_where_the_headers_agree_with_it() -> None:
    """512 inputs in one group may be a group of 512, or one for all."""
    found = {"scales": (1, 1024)}
    assert ratios("awq", quantised(group_size=512), found)["scales"][0] == ("in", 512, 1)
    assert ratios("awq", quantised(group_size=128), found)["scales"][0] == (None, 1, 1)
    # Ragged: three groups of 200, the last of them short.
    ct = {"quantization_config": {"config_groups": {"group_0": {"weights": {"group_size": 200}}}}}
    assert ratios("w4a16_ct", ct, {"weight_scale": (1024, 3)})["weight_scale"][1] == ("in", 200, 1)


def test_headers_that_imply_no_size_leave_the_configs() -> None:
    assert ratios("awq", {}, {"qzeros": (5, 128)})["scales"][0] == ("in", 128, 1)
    assert ratios("awq", {}, {"qzeros": (0, 128)})["scales"][0] == ("in", 128, 1)
    assert ratios("awq", {}, {"qzeros": (8,)})["scales"][0] == ("in", 128, 1)


@pytest.mark.parametrize("group", [-1, 0])
def test_one_group_for_all(group: int) -> None:
    assert ratios("gptq", quantised(group_size=group))["scales"] == [(None, 1, 1), ("out", 1, 1)]


def test_no_group_size_is_one_group_for_all() -> None:
    weights = {"num_bits": 8, "group_size": None, "strategy": "channel"}
    config = {"quantization_config": {"config_groups": {"group_0": {"weights": weights}}}}
    parts = ratios("w4a16_ct", config)
    assert parts["weight_packed"] == [("out", 1, 1), ("in", 4, 1)]
    assert parts["weight_scale"] == [("out", 1, 1), (None, 1, 1)]


def test_half_a_row_is_not_a_row_of_half_the_bits() -> None:
    mlx = {"quantization": {"bits": 4, "group_size": 64}}
    half = {"weight": (1024, 32), "scales": (1024, 4), "biases": (1024, 4)}
    assert ratios("mlx_affine", mlx, half)["weight"][1] == ("in", 8, 1)
    assert ratios("mlx_affine", mlx, half)["scales"][1] == ("in", 64, 1)
    # Two bits in groups of 64: the config says so, or other layers are mixed with these.
    two = {"weight": (1024, 32), "scales": (1024, 8), "biases": (1024, 8)}
    assert ratios("mlx_affine", mlx, two)["weight"][1] == ("in", 16, 1)
    assert ratios("mlx_affine", {"quantization": {"bits": 2, "group_size": 128}}, half)["weight"][1] == ("in", 16, 1)


def test_half_a_row_in_one_group() -> None:
    half = {"qweight": (32, 1024), "qzeros": (1, 128), "scales": (1, 1024)}
    assert ratios("gptq", quantised(bits=4, group_size=-1), half)["qweight"][0] == ("in", 8, 1)


def test_stacked_experts() -> None:
    stacked = Weight({"out": 256, "in": 768}, 1)
    found = {"qweight": (128, 768, 32), "qzeros": (128, 24, 32), "scales": (128, 24, 256)}
    assert ratios("awq", {}, found, stacked)["scales"] == [("in", 32, 1), ("out", 1, 1)]


@pytest.mark.parametrize(
    ("name", "config", "found", "whole"),
    [
        ("gptq", {}, {"g_idx": (512,)}, False),
        ("gptq", quantised(desc_act=False), {}, False),
        ("gptq", quantised(desc_act=True), {}, True),
        ("w4a16_ct", {}, {}, False),
        ("w4a16_ct", {}, {"weight_g_idx": (512,)}, True),
    ],
)
def test_act_order_keeps_the_scales_whole(
    name: str, config: dict[str, object], found: dict[str, tuple[int, ...]], whole: bool
) -> None:
    format = sized(format_named(name), WEIGHT, config, header_of({"weight_scale": (1024, 8), **found}))
    [scale] = [{dim.role: dim.whole for dim in part.dims} for part in format.parts if "scale" in part.name]
    assert scale == {"out": False, "in": whole}


def test_fits() -> None:
    qweight, qzeros, _ = sized(format_named("awq"), WEIGHT, {}, lambda part: None).parts
    assert fits_exactly(qweight, WEIGHT, ("I32", (512, 128)))
    assert fits(qweight, WEIGHT, ("I32", (64, 1024))) and not fits_exactly(qweight, WEIGHT, ("I32", (64, 1024)))
    assert not fits(qweight, WEIGHT, ("U8", (512, 128)))
    assert not fits(qzeros, WEIGHT, ("I32", (1, 4, 128)))
    assert fits_exactly(qzeros, Weight(WEIGHT.rows, 1), ("I32", (9, 4, 128)))


@pytest.mark.parametrize(("shape", "good"), [((), True), ((1,), True), ((2,), False), ((1, 1), False)])
def test_a_scalar_may_be_written_1(shape: tuple[int, ...], good: bool) -> None:
    scale = format_named("fp8_tensor").parts[1]
    assert fits(scale, WEIGHT, ("F32", shape)) is fits_exactly(scale, WEIGHT, ("F32", shape)) is good


def test_a_format_without_sizes_is_itself() -> None:
    assert sized(format_named("nvfp4"), WEIGHT, {}, lambda part: None) is format_named("nvfp4")


def test_formats_of_other_sizes_are_others() -> None:
    one, other = (sized(format_named("awq"), WEIGHT, quantised(group_size=n), lambda part: None) for n in (64, 128))
    again = sized(format_named("awq"), WEIGHT, {}, header_of(AWQ))
    assert (one == other, other == again, hash(other) == hash(again)) == (False, True, True)
