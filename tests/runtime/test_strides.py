from hypothesis import given

from shardc.runtime.strides import Block, Copy, collapsed, reach, row_major

from .copying import copies, pairs


def test_row_major() -> None:
    assert row_major((4, 3, 2)) == (6, 2, 1)
    assert row_major((5,)) == (1,)
    assert row_major(()) == ()
    assert row_major((2, 0, 3)) == (0, 3, 1)


def test_reach() -> None:
    assert reach((4, 3), (10, 1)) == 33
    assert reach((2, 3), (1, 2)) == 6
    assert reach((), ()) == 1
    assert reach((4, 0), (10, 1)) == 0


def test_elements() -> None:
    assert Copy((4, 3), Block(0, (3, 1)), Block(0, (3, 1))).elements == 12
    assert Copy((), Block(0, ()), Block(0, ())).elements == 1


def test_contiguous_on_both_sides() -> None:
    assert Copy((12,), Block(5, (1,)), Block(7, (1,))).contiguous
    assert not Copy((12,), Block(5, (1,)), Block(7, (2,))).contiguous
    assert not Copy((12,), Block(5, (2,)), Block(7, (1,))).contiguous
    assert not Copy((2, 6), Block(5, (6, 1)), Block(7, (6, 1))).contiguous


def test_rows_are_one_run() -> None:
    copy = Copy((4, 3, 2), Block(6, (6, 2, 1)), Block(0, (6, 2, 1)))
    assert collapsed(copy) == Copy((24,), Block(6, (1,)), Block(0, (1,)))


def test_cols_are_two_dims() -> None:
    copy = Copy((4, 3, 2), Block(6, (12, 2, 1)), Block(0, (6, 2, 1)))
    assert collapsed(copy) == Copy((4, 6), Block(6, (12, 1)), Block(0, (6, 1)))


def test_dims_of_one_go() -> None:
    assert collapsed(Copy((1, 5, 1), Block(2, (50, 10, 1)), Block(3, (5, 1, 1)))) == Copy(
        (5,), Block(2, (10,)), Block(3, (1,))
    )


def test_one_element_has_one_dim() -> None:
    for copy in (Copy((), Block(2, ()), Block(3, ())), Copy((1, 1), Block(2, (7, 1)), Block(3, (9, 1)))):
        assert collapsed(copy) == Copy((1,), Block(2, (1,)), Block(3, (1,)))


@given(copies())
def test_the_same_elements_in_the_same_places(copy: Copy) -> None:
    assert pairs(collapsed(copy)) == pairs(copy)


@given(copies())
def test_as_few_dims_as_there_can_be(copy: Copy) -> None:
    once = collapsed(copy)
    assert collapsed(once) == once
    assert 1 <= len(once.shape) <= max(len(copy.shape), 1)
    assert reach(once.shape, once.source.strides) == reach(copy.shape, copy.source.strides)
