"""A weight's regions in the units of its companions."""

from __future__ import annotations

import pytest

from shardc.layout.regions import Regions
from shardc.layout.units import CutError, entries, in_entries


@pytest.mark.parametrize(
    ("segments", "unit", "ceil", "units"),
    [
        pytest.param((4096,), 128, True, 32, id="whole blocks"),
        pytest.param((576,), 128, True, 5, id="4.5 blocks"),
        pytest.param((576, 576), 128, True, 10, id="4.5 blocks twice are 10, not 9"),
        pytest.param((64, 1), 128, True, 2, id="less than a block each"),
        pytest.param((4096,), 2, False, 2048, id="two values a byte"),
        pytest.param((48, 16), 16, False, 4, id="groups of two segments"),
        pytest.param((7, 5), 1, False, 12, id="one by one"),
        pytest.param((0, 128), 128, True, 1, id="an empty segment"),
        pytest.param((), 128, True, 0, id="nothing"),
    ],
)
def test_full_size(segments: tuple[int, ...], unit: int, ceil: bool, units: int) -> None:
    assert entries(segments, unit, 1, ceil) == units


@pytest.mark.parametrize(
    ("segments", "unit", "count", "size"),
    [
        pytest.param((4096,), 32, 3, 384, id="three words for 32 values of 3 bits"),
        pytest.param((64, 32), 32, 3, 9, id="in two segments"),
        pytest.param((64,), 16, 5, 20, id="five words for 16 values of 10 bits"),
        pytest.param((7,), 1, 4, 28, id="four for each"),
    ],
)
def test_several_entries_to_a_unit(segments: tuple[int, ...], unit: int, count: int, size: int) -> None:
    assert entries(segments, unit, count, ceil=False) == size


@pytest.mark.parametrize(
    ("regions", "segments", "unit", "count", "expected"),
    [
        pytest.param(((64, 128, 0),), (256,), 32, 3, ((6, 12, 0),), id="words 6 to 12 of 24"),
        pytest.param(((32, 64, 32),), (64,), 32, 3, ((3, 6, 3),), id="padding in words"),
        pytest.param(((0, 0, 16),), (32,), 32, 3, ((0, 0, 3),), id="a unit of zeros is whole"),
        pytest.param(((32, 64, 0), (96, 128, 0)), (64, 64), 32, 3, ((3, 6, 0), (9, 12, 0)), id="in two segments"),
        pytest.param(((3, 7, 2),), (10,), 1, 4, ((12, 28, 8),), id="four for each"),
    ],
)
def test_in_several_entries_to_a_unit(
    regions: Regions, segments: tuple[int, ...], unit: int, count: int, expected: Regions
) -> None:
    assert in_entries(regions, segments, unit, count) == expected


@pytest.mark.parametrize(
    ("segments", "message"), [((300,), "300 is not a multiple of 16"), ((32, 8), "8 is not a multiple of 16")]
)
def test_sizes_that_are_not_whole_units(segments: tuple[int, ...], message: str) -> None:
    with pytest.raises(CutError, match=f"^{message}$") as caught:
        entries(segments, 16, 1, ceil=False)
    assert (caught.value.code, caught.value.message) == ("SHD213", message)


@pytest.mark.parametrize(
    ("regions", "segments", "unit", "expected"),
    [
        pytest.param(((3, 7, 2),), (10,), 1, ((3, 7, 2),), id="units of one"),
        pytest.param(((512, 1024, 0),), (2048,), 128, ((4, 8, 0),), id="between blocks"),
        pytest.param(((512, 576, 0),), (576,), 128, ((4, 5, 0),), id="a short last block"),
        pytest.param(((0, 576, 0),), (576,), 128, ((0, 5, 0),), id="whole, though not whole blocks"),
        pytest.param(
            ((0, 256, 0), (576, 832, 0)), (576, 576), 128, ((0, 2, 0), (5, 7, 0)), id="the second segment begins at block 5"
        ),
        pytest.param(((0, 1152, 0),), (576, 576), 128, ((0, 10, 0),), id="both segments whole"),
        pytest.param(((512, 832, 0),), (576, 576), 128, ((4, 7, 0),), id="the end of one and the start of the next"),
        pytest.param(((0, 128, 0), (512, 640, 0)), (256, 256, 512), 128, ((0, 1, 0), (4, 5, 0)), id="a segment is skipped"),
        pytest.param(((64, 128, 0), (0, 64, 0)), (128,), 32, ((2, 4, 0), (0, 2, 0)), id="in the order that the rank keeps"),
        pytest.param((), (128,), 128, (), id="nothing"),
    ],
)  # fmt: skip
def test_in_entries(regions: Regions, segments: tuple[int, ...], unit: int, expected: Regions) -> None:
    assert in_entries(regions, segments, unit, 1) == expected


@pytest.mark.parametrize(
    ("regions", "segments", "unit", "expected"),
    [
        pytest.param(((2208, 2880, 64),), (2880,), 32, ((69, 90, 2),), id="two groups of zero"),
        pytest.param(((512, 576, 64),), (576,), 128, ((4, 5, 0),), id="zeros that fill the last block"),
        pytest.param(((512, 576, 192),), (576,), 128, ((4, 5, 1),), id="zeros that fill it, and one block more"),
        pytest.param(((128, 256, 1),), (256,), 128, ((1, 2, 1),), id="one row of zero is a block of them"),
        pytest.param(((0, 0, 256),), (576,), 128, ((0, 0, 2),), id="a rank of zeros"),
        pytest.param(((0, 0, 100),), (576,), 128, ((0, 0, 1),), id="a rank of fewer zeros than a block"),
        pytest.param(
            ((0, 0, 128), (512, 768, 0)), (512, 256), 128, ((0, 0, 1), (4, 6, 0)), id="zeros, then a whole segment"
        ),
        pytest.param(
            ((128, 256, 128), (384, 512, 128)), (256, 256), 128, ((1, 2, 1), (3, 4, 1)), id="zeros after each half"
        ),
        pytest.param(((0, 512, 128),), (256, 256), 128, ((0, 4, 1),), id="zeros after the last of two segments"),
    ],
)  # fmt: skip
def test_padding_in_units(regions: Regions, segments: tuple[int, ...], unit: int, expected: Regions) -> None:
    assert in_entries(regions, segments, unit, 1) == expected


@pytest.mark.parametrize(
    ("regions", "segments", "unit", "message"),
    [
        pytest.param(((192, 384, 0),), (768,), 128, "cut at 192, inside a unit of 128", id="at its start"),
        pytest.param(((0, 192, 0),), (768,), 128, "cut at 192, inside a unit of 128", id="at its end"),
        pytest.param(((0, 128, 0), (576, 640, 0)), (576, 576), 128, "cut at 640, inside a unit of 128", id="in a segment"),
        pytest.param(((640, 704, 0),), (576, 576), 128, "cut at 640, inside a unit of 128", id="a multiple, but of the file"),
        pytest.param(((0, 100, 28),), (576,), 128, "cut at 100, inside a unit of 128", id="zeros do not mend a cut"),
        pytest.param(((1, 2, 0),), (4,), 2, "cut at 1, inside a unit of 2", id="inside a byte"),
    ],
)  # fmt: skip
def test_cuts_inside_a_unit(regions: Regions, segments: tuple[int, ...], unit: int, message: str) -> None:
    with pytest.raises(CutError, match=f"^{message}$") as caught:
        in_entries(regions, segments, unit, 1)
    assert (caught.value.code, caught.value.message) == ("SHD212", message)
