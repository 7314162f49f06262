import pytest

from shardc.runtime import Dim, ShardError
from shardc.runtime.companions import check_nested, companion_size, companion_spans
from shardc.runtime.regions import Spans


@pytest.mark.parametrize(
    ("segments", "unit", "ceil", "size"),
    [
        ((512,), 128, True, 4),
        ((576,), 128, True, 5),
        ((576, 128), 128, True, 6),
        ((16, 16, 32), 8, False, 8),
        ((7,), 1, False, 7),
        ((0,), 128, True, 0),
    ],
)
def test_size(segments: tuple[int, ...], unit: int, ceil: bool, size: int) -> None:
    assert companion_size("q.scale", segments, Dim("out", unit, ceil=ceil)) == size


def test_several_entries_to_a_unit() -> None:
    words = Dim("in", 32, entries=3)
    assert companion_size("q.weight", (64, 32), words) == 9
    assert companion_spans("q.weight", 1, ((64, 128, 32),), (256,), words) == ((6, 12, 3),)
    assert companion_spans("q.weight", 1, ((32, 64, 0), (96, 128, 0)), (64, 64), words) == ((3, 6, 0), (9, 12, 0))


def test_a_unit_that_would_span_two_parts() -> None:
    check_nested("qkv.scale", (1280, 384), 128)
    with pytest.raises(ShardError) as caught:
        check_nested("qkv.scale", (1280, 320), 128)
    text = "qkv.scale: a part of 320 is not a multiple of 128: a unit would span two parts"
    assert caught.value.findings == (("SHD213", text),)


def test_a_ragged_segment() -> None:
    with pytest.raises(ShardError, match=r"^SHD213: q\.scale: 20 is not a multiple of 16$"):
        companion_size("q.scale", (32, 20), Dim("out", 16))


@pytest.mark.parametrize(
    ("spans", "segments", "unit", "expected"),
    [
        pytest.param(((128, 256, 0),), (512,), 128, ((1, 2, 0),), id="rows"),
        pytest.param(((512, 576, 0),), (576,), 128, ((4, 5, 0),), id="the short unit at the end"),
        pytest.param(((0, 576, 0), (576, 704, 0)), (576, 128), 128, ((0, 6, 0),), id="running sums of ceilings"),
        pytest.param(
            ((512, 576, 0), (576, 704, 0)), (576, 128), 128, ((4, 6, 0),), id="from a short unit to the next segment"
        ),
        pytest.param(((0, 704, 0),), (576, 128), 128, ((0, 6, 0),), id="merged spans are cut at segments"),
        pytest.param(
            ((8, 16, 0), (24, 32, 0), (48, 64, 0)),
            (16, 16, 32),
            8,
            ((1, 2, 0), (3, 4, 0), (6, 8, 0)),
            id="packed q, k, v",
        ),
        pytest.param(((11776, 17408, 256),), (17408,), 128, ((92, 136, 2),), id="padding in whole units"),
        pytest.param(((0, 100, 28),), (100,), 128, ((0, 1, 0),), id="padding within the short unit"),
        pytest.param(((0, 100, 30),), (100,), 128, ((0, 1, 1),), id="padding past the short unit"),
        pytest.param(((0, 0, 8),), (24,), 4, ((0, 0, 2),), id="nothing but padding"),
        pytest.param(((0, 0, 9),), (24,), 4, ((0, 0, 3),), id="padding, rounded up"),
        pytest.param(((0, 11, 1), (22, 33, 1)), (22, 22), 1, ((0, 11, 1), (22, 33, 1)), id="units of one"),
        pytest.param((), (0,), 128, (), id="an empty dim"),
        pytest.param(((0, 24, 8),), (16, 8), 8, ((0, 3, 1),), id="padding behind the last segment"),
    ],
)
def test_spans(spans: Spans, segments: tuple[int, ...], unit: int, expected: Spans) -> None:
    assert companion_spans("q.scale", 0, spans, segments, Dim("out", unit, ceil=True)) == expected


@pytest.mark.parametrize(
    ("spans", "segments", "position"),
    [
        (((0, 192, 0),), (512,), 192),
        (((192, 512, 0),), (512,), 192),
        (((0, 576, 0), (576, 640, 0)), (576, 128), 640),
        (((64, 128, 0),), (64, 128), 128),
    ],
)
def test_a_cut_inside_a_unit(spans: Spans, segments: tuple[int, ...], position: int) -> None:
    with pytest.raises(ShardError) as caught:
        companion_spans("q.weight_scale_inv", 1, spans, segments, Dim("in", 128, ceil=True))
    assert caught.value.findings == (("SHD212", f"q.weight_scale_inv: dim 1 cut at {position}, inside a unit of 128"),)
