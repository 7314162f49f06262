"""The sizes and flags of a format, as the runtime settles them; written without a look at the compiler's."""

from typing import Any

import pytest

from shardc.runtime import Dim, Format, Part
from shardc.runtime.settling import Extent, Facts, facts_of, settled_parts, shape_of

#: Words of `bits` along the input, groups of `group`, and an order of inputs that keeps the scales whole.
FORMAT = Format(
    (
        Part("{stem}.words", ("I32",), (Dim("in", 32, entries="bits"), Dim("out"))),
        Part("{stem}.scales", ("F16",), (Dim("in", "group", whole="act_order"), Dim("out"))),
        Part("{stem}.order", ("I32",), (Dim("in"),), optional=True),
        Part("{stem}.shape", ("I64",), (Dim(None, entries=2),), values=("out", "in")),
    ),
    sizes={"bits": (("q.bits",), 4), "group": (("q.group", "p.group"), 128)},
    flags={"act_order": (("q.desc_act",), "{stem}.order")},
)
EXTENT = Extent(out=64, input=512, leading=0)
CONFIG = Facts((4, 128), (False,))
Shape = tuple[int, ...] | None


def settled(facts: Facts = CONFIG, words: Shape = None, scales: Shape = None, order: Shape = None) -> tuple[Part, ...]:
    return settled_parts(FORMAT, facts, EXTENT, (words, scales, order, None))


@pytest.mark.parametrize(
    ("config", "facts"),
    [
        ({}, ((4, 128), (False,))),
        ({"q": {"bits": 8, "group": 32, "desc_act": True}}, ((8, 32), (True,))),
        ({"p": {"group": 64}}, ((4, 64), (False,))),
        ({"q": {"group": 16}, "p": {"group": 64}}, ((4, 16), (False,))),
        ({"q": {"group": None}, "p": {"group": 64}}, ((4, 64), (False,))),
        ({"q": {"group": -1, "desc_act": False}}, ((4, 0), (False,))),
        ({"q": {"bits": True, "group": "64", "desc_act": ""}}, ((4, 128), (False,))),
        ({"q": {"bits": 4.0, "desc_act": 0}}, ((4, 128), (False,))),
        ({"q": 7}, ((4, 128), (False,))),
    ],
)
def test_what_a_config_says(config: dict[str, Any], facts: tuple[tuple[int, ...], tuple[bool, ...]]) -> None:
    assert facts_of(FORMAT, config) == facts


def test_without_headers_the_configs_sizes() -> None:
    words, scales, order, shape = settled(Facts((8, 64), (False,)))
    assert words.dims == (Dim("in", 4), Dim("out"))
    assert scales.dims == (Dim("in", 64), Dim("out"))
    assert order.dims == (Dim("in"),)
    assert shape.dims == (Dim(None, entries=2),)
    assert (order.optional, shape.values, words.dtypes) == (True, ("out", "in"), ("I32",))


@pytest.mark.parametrize(("bits", "unit", "count"), [(2, 16, 1), (3, 32, 3), (4, 8, 1), (6, 16, 3), (8, 4, 1)])
def test_values_in_words(bits: int, unit: int, count: int) -> None:
    assert settled(Facts((bits, 128), (False,)))[0].dims[0] == Dim("in", unit, entries=count)


@pytest.mark.parametrize(
    ("words", "scales", "bits", "group"),
    [
        pytest.param((64, 64), (4, 64), Dim("in", 8), Dim("in", 128), id="as the config says"),
        pytest.param((64, 64), (8, 64), Dim("in", 8), Dim("in", 64), id="smaller groups"),
        pytest.param((128, 64), (4, 64), Dim("in", 4), Dim("in", 128), id="8 bits"),
        pytest.param((128, 64), (16, 64), Dim("in", 4), Dim("in", 32), id="8 bits, smaller groups"),
        pytest.param((64, 64), (1, 64), Dim("in", 8), Dim(None), id="one group"),
        pytest.param((64, 64), (5, 64), Dim("in", 8), Dim("in", 128), id="no size gives 5"),
        pytest.param((64, 64), (0, 64), Dim("in", 8), Dim("in", 128), id="nor 0"),
        pytest.param((64, 64), (2, 8, 64), Dim("in", 8), Dim("in", 128), id="of another number of dims"),
        pytest.param((32, 64), (4, 64), Dim("in", 16), Dim("in", 128), id="2 bits"),
        pytest.param((32, 64), (2, 64), Dim("in", 8), Dim("in", 128), id="half of the rows is no row of 2 bits"),
        pytest.param((16, 64), (1, 64), Dim("in", 32), Dim(None), id="1 bit, one group"),
    ],
)
def test_the_headers_decide(words: Shape, scales: Shape, bits: Dim, group: Dim) -> None:
    parts = settled(CONFIG, words, scales)
    assert parts[0].dims == (bits, Dim("out"))
    assert parts[1].dims == (group, Dim("out"))


def test_half_of_the_rows_in_one_group() -> None:
    parts = settled(Facts((4, 0), (False,)), (32, 64), (1, 64))
    assert (parts[0].dims[0], parts[1].dims[0]) == (Dim("in", 8), Dim(None))


def test_leading_dims_are_passed_over() -> None:
    stacked = Extent(out=64, input=512, leading=1)
    parts = settled_parts(FORMAT, CONFIG, stacked, ((9, 64, 64), (9, 16, 64), None, None))
    assert parts[1].dims == (Dim("in", 32), Dim("out"))


def test_scales_are_whole_under_act_order() -> None:
    by_config, by_part = settled(Facts((4, 128), (True,))), settled(order=(512,))
    assert by_config[1].dims == by_part[1].dims == (Dim("in", 128, whole=True), Dim("out"))
    assert by_config[0].dims == by_part[0].dims == (Dim("in", 8), Dim("out"))


def test_equal_weights_share_their_parts() -> None:
    assert settled(words=(64, 64)) is settled(words=(64, 64))
    assert settled(words=(64, 64)) is not settled(words=(128, 64))


@pytest.mark.parametrize(
    ("dims", "shape"),
    [
        ((Dim("out"), Dim("in", 32, entries=3)), (64, 48)),
        ((Dim("out", 48), Dim("in", 500)), (None, None)),
        ((Dim("out", 48, ceil=True), Dim("in", 512)), (2, 1)),
        ((Dim("out"), Dim("in", 32), Dim(None, entries=16)), (64, 16, 16)),
        ((), ()),
    ],
)
def test_shapes(dims: tuple[Dim, ...], shape: tuple[int | None, ...]) -> None:
    assert shape_of(Part("{stem}.x", ("U8",), dims), EXTENT) == shape
