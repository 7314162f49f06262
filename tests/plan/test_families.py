"""Names: those of one entry, family by family."""

from __future__ import annotations

from typing import Any

import pytest

from shardc.layout.errors import FormulaError
from shardc.plan.families import enumerate_names, tensor_count
from shardc.plan.resolved import Entry
from tests.plan.support import spec
from tests.support import resolved

SPEC = spec("""\
config: {layers: layers, first: first, types: types, widths: widths, num_experts: experts}
axes:
  experts: {size: num_experts, over: ep}
groups:
  top:
    tensors:
      norm.weight: {shape: [8], shard: replicated}
  alike:
    at: layers.{layer}
    for: {layer: [first, layers]}
    tensors:
      norm.weight: {shape: [8], shard: replicated}
      odd.weight: {shape: [8], shard: replicated, when: layer % 2 == 1}
      wide.weight: {shape: ["widths[layer]"], shard: replicated}
  kinds:
    at: layers.{layer}
    for: {layer: layers}
    when: types[layer] == 'linear'
    axes: {own: {size: "widths[layer]"}}
    tensors:
      a.weight: {shape: [own], shard: column_parallel}
      plain.weight: {shape: [8], shard: replicated}
  experts:
    at: layers.{layer}.experts.{expert}
    for: {layer: layers, expert: experts}
    tensors:
      up.weight: {shape: [8], shard: expert_slices}
      some.weight: {shape: [8], shard: expert_slices, when: expert > 0}
""")
ENTRIES = {(entry.group, entry.path[-1]): entry for entry in resolved(SPEC).entries}
VALUES: dict[str, Any] = {
    "layers": 4, "first": 1, "types": ["linear", "full", "linear", "full"], "widths": [8, 16, 8, 32], "num_experts": 3,
}  # fmt: skip


def entry(group: str, name: str) -> Entry:
    return ENTRIES[group, name]


def families(group: str, name: str) -> list[tuple[dict[str, int], tuple[str, ...]]]:
    return [(dict(names.env), names.names) for names in enumerate_names(entry(group, name), VALUES)]


def test_without_an_index_there_is_one_name() -> None:
    assert families("top", "norm.weight") == [({}, ("norm.weight",))]


def test_layers_of_one_shape_are_one_family() -> None:
    assert families("alike", "norm.weight") == [
        ({}, ("layers.1.norm.weight", "layers.2.norm.weight", "layers.3.norm.weight"))
    ]


def test_a_condition_picks_names() -> None:
    assert families("alike", "odd.weight") == [({}, ("layers.1.odd.weight", "layers.3.odd.weight"))]


def test_a_shape_that_uses_the_index_has_a_family_for_each() -> None:
    assert families("alike", "wide.weight") == [
        ({"layer": 1}, ("layers.1.wide.weight",)),
        ({"layer": 2}, ("layers.2.wide.weight",)),
        ({"layer": 3}, ("layers.3.wide.weight",)),
    ]


@pytest.mark.parametrize("name", ["a.weight", "plain.weight"])
def test_an_axis_of_the_group_that_uses_the_index_does_too(name: str) -> None:
    assert families("kinds", name) == [({"layer": 0}, (f"layers.0.{name}",)), ({"layer": 2}, (f"layers.2.{name}",))]


def test_an_axis_that_selects_names_tells_the_element_of_each() -> None:
    [names] = enumerate_names(entry("experts", "up.weight"), {**VALUES, "layers": 2})
    assert names.names == tuple(
        f"layers.{layer}.experts.{expert}.up.weight" for layer in (0, 1) for expert in (0, 1, 2)
    )
    assert names.elements == {"experts": (0, 1, 2, 0, 1, 2)}


def test_a_condition_on_the_selecting_index() -> None:
    [names] = enumerate_names(entry("experts", "some.weight"), {**VALUES, "layers": 2})
    assert [name.split(".")[1:4:2] for name in names.names] == [["0", "1"], ["1", "1"], ["0", "2"], ["1", "2"]]
    assert names.elements == {"experts": (1, 1, 2, 2)}


def test_picked_names_keep_their_elements() -> None:
    [names] = enumerate_names(entry("experts", "up.weight"), {**VALUES, "layers": 2})
    picked = names.picked([4, 0])
    assert picked.names == (names.names[4], names.names[0])
    assert picked.elements == {"experts": (1, 0)}
    assert (picked.count, picked.first, picked.grid) == (2, names.names[4], None)
    assert picked.picked([1]).names == (names.names[0],)


def test_names_are_a_grid_where_their_indices_are_a_product() -> None:
    [names] = enumerate_names(entry("experts", "up.weight"), {**VALUES, "layers": 2})
    assert names.grid is not None
    assert tuple(names.grid.names()) == names.names
    assert names.count == len(names.names)
    assert names.first == names.names[0]


def test_an_empty_range_has_no_names() -> None:
    assert enumerate_names(entry("alike", "wide.weight"), {**VALUES, "layers": 1}) == []
    [names] = enumerate_names(entry("alike", "norm.weight"), {**VALUES, "layers": 1})
    assert names.names == ()


def test_a_condition_without_a_value_raises() -> None:
    with pytest.raises(FormulaError, match="index 3 of 3 entries"):
        enumerate_names(entry("kinds", "plain.weight"), {**VALUES, "types": ["full"] * 3})


@pytest.mark.parametrize(
    ("group", "name", "count"),
    [
        ("top", "norm.weight", 1),
        ("alike", "norm.weight", 3),
        ("experts", "up.weight", 12),
        # Three layers, each looked at by itself.
        ("alike", "odd.weight", 3 + 2 * 50),
    ],
)
def test_tensor_count(group: str, name: str, count: int) -> None:
    assert tensor_count(entry(group, name), VALUES) == count


PARTS = spec("""\
config: {n: n, dense: dense}
axes: {layers: {size: n, over: pp}}
groups:
  all:
    at: "{layer}"
    for: {layer: LOOP}
    tensors:
      w: {shape: [4], shard: replicated}
""")


def part(loop: str, **values: int) -> list[int]:
    [one] = resolved(PARTS.replace("LOOP", loop)).entries
    [names] = enumerate_names(one, {"n": 5, "dense": 2, **values})
    assert names.elements == {"layers": tuple(int(name[0]) for name in names.names)}
    return [int(name[0]) for name in names.names]


@pytest.mark.parametrize(
    ("loop", "elements"),
    [
        ("layers", [0, 1, 2, 3, 4]),
        ("[dense, layers]", [2, 3, 4]),
        ("{of: layers, to: dense}", [0, 1]),
        ("{of: layers, from: 1, to: n - 1}", [1, 2, 3]),
        ("{of: layers, from: n, to: n}", []),
        ("{of: layers, from: 9}", []),
    ],
)
def test_a_part_of_an_axis(loop: str, elements: list[int]) -> None:
    assert part(loop) == elements


def test_a_part_that_is_past_the_axis() -> None:
    """Such names would be on no rank."""
    with pytest.raises(FormulaError) as caught:
        part("{of: layers, to: dense * 3}")
    assert (caught.value.code, caught.value.message) == ("SHD112", "`dense * 3` = 6 is past the 5 layers")
