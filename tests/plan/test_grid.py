"""Names as a template and numbers: equal grids, and only those, stand for the same names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shardc.plan.grid import Grid, grid_of


def test_a_group_of_a_table() -> None:
    grid = grid_of(["model.layers.", ".mlp.experts.", ".up_proj.weight"], [[0, 1], [7]])
    assert grid == Grid("model.layers.{}.mlp.experts.{}.up_proj.weight", ((0, 1), (7,)))
    assert grid.count == 2
    assert grid.names() == [
        "model.layers.0.mlp.experts.7.up_proj.weight",
        "model.layers.1.mlp.experts.7.up_proj.weight",
    ]


def test_a_number_that_is_written_out_is_a_place_too() -> None:
    assert grid_of(["mtp.layers.0.norm.weight"], []) == Grid("mtp.layers.{}.norm.weight", ((0,),))
    assert grid_of(["mtp.layers.", ".norm.weight"], [[0]]) == grid_of(["mtp.layers.0.norm.weight"], [])


def test_numbers_are_in_order() -> None:
    assert grid_of(["a.", ".b"], [[3, 1, 2]]) == Grid("a.{}.b", ((1, 2, 3),))


@pytest.mark.parametrize("name", ["q_conv1d.weight", "layers.007.x", "w13", "blocks.1a.x"])
def test_digits_inside_words_are_letters(name: str) -> None:
    assert grid_of([name], []) == Grid(name, ())


@pytest.mark.parametrize("literals", [["h", ".x"], ["layers.", "a.x"], ["layers.1", ".x"]])
def test_a_number_that_is_part_of_a_word_is_no_place(literals: list[str]) -> None:
    assert grid_of(literals, [[0, 1]]) is None


def test_overlap_is_a_number_in_common_at_each_place() -> None:
    grid = Grid("l.{}.e.{}.w", ((0, 1), (0, 1, 2)))
    assert grid.overlaps(Grid("l.{}.e.{}.w", ((1, 5), (2,))))
    assert not grid.overlaps(Grid("l.{}.e.{}.w", ((1, 5), (3,))))
    assert not grid.overlaps(Grid("l.{}.e.{}.v", ((0, 1), (0, 1, 2))))


def test_a_grid_made_of_parts() -> None:
    whole = Grid("l.{}.e.{}.w", ((0, 1, 2), (0, 1)))
    layers, mtp = Grid("l.{}.e.{}.w", ((0, 1), (0, 1))), Grid("l.{}.e.{}.w", ((2,), (0, 1)))
    assert whole.contains(layers) and whole.contains(mtp) and not layers.contains(mtp)
    assert whole.made_of([layers, mtp]) and whole.made_of([whole])
    assert not whole.made_of([layers]) and not whole.made_of([layers, layers, mtp])
    assert not whole.made_of([Grid("l.{}.e.{}.w", ((0, 1), (0,))), layers])


def test_names_beside() -> None:
    grid = Grid("l.{}.up.weight", ((0, 1),))
    scales = grid.renamed(lambda name: name.replace(".weight", ".weight_scale"))
    assert scales.names() == ["l.0.up.weight_scale", "l.1.up.weight_scale"]


_WORDS = st.sampled_from(["a", "b", "3", "12", "{}"])
_NUMBERS = st.sets(st.integers(0, 4), min_size=1)


@st.composite
def grids(draw: st.DrawFn) -> Grid:
    words = draw(st.lists(_WORDS, min_size=1, max_size=4))
    literals = ".".join(words).split("{}")
    grid = grid_of(literals, [draw(_NUMBERS) for _ in literals[1:]])
    assert grid is not None
    return grid


@given(grids(), grids())
def test_grids_share_a_name_just_where_they_overlap(one: Grid, other: Grid) -> None:
    """On which the compiler relies when it does not write names out."""
    assert one.overlaps(other) == bool(set(one.names()) & set(other.names()))
    assert one.contains(other) == (set(one.names()) >= set(other.names()))
    assert len(set(one.names())) == one.count
