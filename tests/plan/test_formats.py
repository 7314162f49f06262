"""The library's formats as the planner has them."""

from __future__ import annotations

from typing import Any

import pytest

from shardc.diagnostics import ShardcBug
from shardc.plan import formats
from shardc.plan.formats import format_named
from shardc.plan.resolved import FormatPart, PartDim
from shardc.spec.dtypes import SIZES
from shardc.spec.library import FormatFile, PartFile, format_names


def test_dense_has_no_parts() -> None:
    assert format_named("dense").parts == ()


def test_fp8_block() -> None:
    assert format_named("fp8_block").parts == (
        FormatPart("{stem}.weight", ("F8_E4M3",), (PartDim("out", 1, False), PartDim("in", 1, False)), False),
        FormatPart("{stem}.weight_scale_inv", ("F32", "BF16"), (PartDim("out", 128, True), PartDim("in", 128, True)), False),
    )  # fmt: skip


def test_nvfp4() -> None:
    parts = format_named("nvfp4").parts
    assert [(part.name, [(d.role, d.unit, d.ceil) for d in part.dims], part.optional) for part in parts] == [
        ("{stem}.weight", [("out", 1, False), ("in", 2, False)], False),
        ("{stem}.weight_scale", [("out", 1, False), ("in", 16, False)], False),
        ("{stem}.weight_scale_2", [], False),
        ("{stem}.input_scale", [], True),
    ]


@pytest.mark.parametrize("name", format_names())
def test_every_format_of_the_library(name: str) -> None:
    format = format_named(name)
    assert format.name == name
    for part in format.parts:
        assert part.name.startswith(("{stem}.", "{stem}_"))
        assert set(part.dtypes) <= SIZES.keys()
        roles = [dim.role for dim in part.dims if dim.role]
        assert len(set(roles)) == len(roles)
    assert len({part.name for part in format.parts}) == len(format.parts)


def test_names_of_parts() -> None:
    scale = format_named("fp8_block").parts[1]
    assert scale.named("layers.0.up.weight") == "layers.0.up.weight_scale_inv"
    assert scale.all_named(("a.weight", "b.weight")) == ("a.weight_scale_inv", "b.weight_scale_inv")
    assert scale.named("experts.up") == "experts.up.weight_scale_inv"
    assert scale.all_named(()) == ()


@pytest.mark.parametrize(
    "dim", ["hidden", "out / 0", "in + out", "ceil(out / 2", "out / 2)", "2 * out", "out / 32 * 3"]
)
def test_a_fault_of_the_library_is_a_bug(dim: str, monkeypatch: pytest.MonkeyPatch) -> None:
    file = FormatFile(name="odd", about="", parts=[PartFile(name="{stem}.weight", dtypes=["U8"], shape=[dim])])
    monkeypatch.setattr(formats, "format_file", lambda name: file)
    with pytest.raises(ShardcBug) as caught:
        formats.format_named.__wrapped__("odd")
    assert str(caught.value) == (
        f"a format's dim is a number, or `out * size / size` or its ceiling, or the same of `in`: `{dim}`"
    )


def part(*shape: str, **fields: Any) -> PartFile:
    return PartFile(name="{stem}.weight", dtypes=["U8"], shape=list(shape), **fields)


@pytest.mark.parametrize(
    ("fields", "parts", "message"),
    [
        ({}, [part("out", "in / group")], "odd: its dims use ['group']"),
        ({"sizes": {"group": {"key": "g", "else": 1}}}, [part("out", "in")], "odd: its dims use []"),
        ({}, [part("out", "in", input_whole="act_order")], "odd: its dims use ['act_order']"),
        (
            {"sizes": {"bits": {"key": "b", "else": 1}, "group": {"key": "g", "else": 1}}},
            [part("out", "in * bits / group")],
            "odd: two sizes in one dim",
        ),
        (
            {"flags": {"act_order": {"part": "{stem}.g_idx"}}},
            [part("out", "in", input_whole="act_order")],
            "odd: a flag asks for a tensor that it does not have",
        ),
    ],
)
def test_sizes_and_flags_are_of_the_format(
    fields: dict[str, Any], parts: list[PartFile], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = FormatFile.model_validate({"name": "odd", "about": "", **fields, "parts": [p.model_dump() for p in parts]})
    monkeypatch.setattr(formats, "format_file", lambda name: file)
    with pytest.raises(ShardcBug) as caught:
        formats.format_named.__wrapped__("odd")
    assert str(caught.value) == message
