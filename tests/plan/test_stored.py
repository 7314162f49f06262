"""How tensors are stored: the headers decide, tensor by tensor."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from shardc.plan.evidence import Header
from shardc.plan.stored_dims import stored_dims
from tests.plan.support import spec
from tests.support import bound

Found = list[tuple[str, dict[str, tuple[str, ...]]]]


def text(formats: str, fields: str = "") -> str:
    return spec(f"""\
    config: {{layers: layers}}
    groups:
      all:
        at: l.{{layer}}
        for: {{layer: layers}}
        tensors:
          up.weight: {{shape: [256, 256], shard: replicated, formats: [{formats}]{fields}}}
    """)


def stored(headers: Mapping[str, Header] | None, formats: str, layers: int = 2, fields: str = "") -> Found:
    """For each way of storing: the format, and dtype as stored, dtype loaded and names of each of its tensors."""
    ways = [family.stored for family in bound(text(formats, fields), {"layers": layers}, headers).families]
    return [(way.format.name, {" ".join((p.dtype, p.load)): p.names for p in way.parts}) for way in ways]


def header(dtype: str, *shape: int) -> Header:
    return dtype, shape


BF16 = header("BF16", 256, 256)
FP8 = {"weight": header("F8_E4M3", 256, 256), "weight_scale_inv": header("F32", 2, 2)}
NVFP4 = {
    "weight": header("U8", 256, 128), "weight_scale": header("F8_E4M3", 256, 16), "weight_scale_2": header("F32"),
}  # fmt: skip


def layer(i: int, parts: Mapping[str, Header]) -> dict[str, Header]:
    return {f"l.{i}.up.{name}": found for name, found in parts.items()}


def test_dense() -> None:
    assert stored({**layer(0, {"weight": BF16}), **layer(1, {"weight": BF16})}, "dense") == [
        ("dense", {"BF16 BF16": ("l.0.up.weight", "l.1.up.weight")})
    ]


def test_a_dtype_that_is_cast_while_loading() -> None:
    dtypes = ", dtype: {file: [BF16, F32], load: BF16}"
    mixed = {**layer(0, {"weight": BF16}), **layer(1, {"weight": header("F32", 256, 256)})}
    assert stored(mixed, "dense", fields=dtypes) == [
        ("dense", {"BF16 BF16": ("l.0.up.weight",)}),
        ("dense", {"F32 BF16": ("l.1.up.weight",)}),
    ]


@pytest.mark.parametrize("formats", ["fp8_block", "dense, fp8_block", "nvfp4, dense, fp8_block"])
def test_fp8_block(formats: str) -> None:
    assert stored({**layer(0, FP8), **layer(1, FP8)}, formats) == [
        (
            "fp8_block",
            {
                "F8_E4M3 F8_E4M3": ("l.0.up.weight", "l.1.up.weight"),
                "F32 F32": ("l.0.up.weight_scale_inv", "l.1.up.weight_scale_inv"),
            },
        )
    ]


def test_nvfp4_and_a_companion_that_only_one_has() -> None:
    with_input = {**NVFP4, "input_scale": header("F32")}
    ways = bound(text("nvfp4"), {"layers": 2}, {**layer(0, NVFP4), **layer(1, with_input)}).families
    assert [[name for part in way.stored.parts for name in part.names] for way in ways] == [
        ["l.0.up.weight", "l.0.up.weight_scale", "l.0.up.weight_scale_2"],
        ["l.1.up.weight", "l.1.up.weight_scale", "l.1.up.weight_scale_2", "l.1.up.input_scale"],
    ]


def test_a_mix_inside_one_entry_is_one_family_each() -> None:
    headers = {**layer(0, {"weight": BF16}), **layer(1, FP8), **layer(2, NVFP4), **layer(3, {"weight": BF16})}
    assert stored(headers, "dense, fp8_block, nvfp4", layers=4) == [
        ("dense", {"BF16 BF16": ("l.0.up.weight", "l.3.up.weight")}),
        ("fp8_block", {"F8_E4M3 F8_E4M3": ("l.1.up.weight",), "F32 F32": ("l.1.up.weight_scale_inv",)}),
        (
            "nvfp4",
            {
                "U8 U8": ("l.2.up.weight",),
                "F8_E4M3 F8_E4M3": ("l.2.up.weight_scale",),
                "F32 F32": ("l.2.up.weight_scale_2",),
            },
        ),
    ]


def test_scales_of_two_dtypes() -> None:
    other = {**FP8, "weight_scale_inv": header("BF16", 2, 2)}
    assert [names["F8_E4M3 F8_E4M3"] for _, names in stored({**layer(0, FP8), **layer(1, other)}, "fp8_block")] == [
        ("l.0.up.weight",),
        ("l.1.up.weight",),
    ]


def test_without_headers_the_first_format_without_optional_companions() -> None:
    assert stored(None, "nvfp4, dense", layers=1) == [
        (
            "nvfp4",
            {
                "U8 U8": ("l.0.up.weight",),
                "F8_E4M3 F8_E4M3": ("l.0.up.weight_scale",),
                "F32 F32": ("l.0.up.weight_scale_2",),
            },
        )
    ]
    assert stored(None, "dense, fp8_block", layers=1) == [("dense", {"BF16 BF16": ("l.0.up.weight",)})]


def test_a_missing_tensor_is_taken_as_the_others_are() -> None:
    assert stored(layer(1, {"weight": header("F16", 256, 256)}), "dense") == [
        ("dense", {"F16 F16": ("l.0.up.weight", "l.1.up.weight")})
    ]


def test_a_missing_scale_is_still_a_part() -> None:
    headers = {**layer(0, FP8), **layer(1, {"weight": FP8["weight"]})}
    assert stored(headers, "dense, fp8_block") == stored({**layer(0, FP8), **layer(1, FP8)}, "fp8_block")


@pytest.mark.parametrize(
    ("parts", "name"),
    [
        pytest.param({"weight": header("I64", 256, 256)}, "dense", id="nothing fits: the first"),
        pytest.param({"weight": FP8["weight"]}, "fp8_block", id="the dtype alone"),
        pytest.param({"weight": BF16, "weight_scale_inv": header("F32", 2, 2)}, "dense", id="complete without it"),
        pytest.param({"weight": header("I8", 256, 256), "weight_scale_inv": header("F32", 2, 2)}, "fp8_block", id="pointed to"),
    ],
)  # fmt: skip
def test_what_fits_no_format_is_left_for_coverage(parts: dict[str, Header], name: str) -> None:
    [(format, _)] = stored(layer(0, parts), "dense, fp8_block", layers=1)
    assert format == name


def test_a_common_header_is_remembered() -> None:
    one = header("BF16", 256, 256)
    [family] = bound(text("dense"), {"layers": 2}, {"l.0.up.weight": one, "l.1.up.weight": one}).families
    assert family.stored.parts[0].header is one
    other = ("BF16", (1, 1))
    [family] = bound(text("dense"), {"layers": 2}, {"l.0.up.weight": one, "l.1.up.weight": other}).families
    assert family.stored.parts[0].header is None


AWQ = {"qweight": header("I32", 256, 32), "qzeros": header("I32", 2, 32), "scales": header("F16", 2, 256)}
GPTQ = {"qweight": header("I32", 32, 256), "qzeros": header("I32", 2, 32), "scales": header("F16", 2, 256)}


@pytest.mark.parametrize("formats", ["awq, gptq", "gptq, awq", "dense, w4a16_ct, gptq, awq"])
def test_shapes_decide_between_formats_of_the_same_names(formats: str) -> None:
    both = stored({**layer(0, AWQ), **layer(1, GPTQ)}, formats)
    assert [(format, names["I32 I32"]) for format, names in both] == [
        ("awq", ("l.0.up.qzeros",)),
        ("gptq", ("l.1.up.qzeros",)),
    ]


def test_layers_of_other_groups_are_other_families() -> None:
    small = {"qweight": header("I32", 256, 32), "qzeros": header("I32", 8, 32), "scales": header("F16", 8, 256)}
    families = bound(text("awq"), {"layers": 3}, {**layer(0, AWQ), **layer(1, small), **layer(2, AWQ)}).families
    groups = [family.stored.parts[2].part for family in families]
    assert [(family.names, part and part.dims[0].unit) for family, part in zip(families, groups, strict=True)] == [
        (("l.0.up.weight", "l.2.up.weight"), 128),
        (("l.1.up.weight",), 32),
    ]


def test_a_scalar_that_is_written_1_has_a_dim() -> None:
    headers = {**layer(0, NVFP4), **layer(1, {**NVFP4, "weight_scale_2": header("F32", 1)})}
    families = bound(text("nvfp4"), {"layers": 2}, headers).families
    scales = [(family.stored.parts[2], stored_dims(family, family.stored.parts[2])) for family in families]
    assert [(part.names, [dim.size for dim in dims]) for part, dims in scales] == [
        (("l.0.up.weight_scale_2",), []),
        (("l.1.up.weight_scale_2",), [1]),
    ]
