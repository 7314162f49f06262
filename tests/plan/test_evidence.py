"""The first tensor of a file that a glob names, with and without a table's groups."""

from __future__ import annotations

import pytest

from shardc.plan.evidence import Evidence, Grids, Header
from shardc.plan.grid import Grid

BY_GRID: dict[Grid, Header] = {
    Grid("embed.weight", ()): ("BF16", (8,)),
    Grid("layers.{}.up.weight", ((0, 1, 7),)): ("BF16", (4, 8)),
    Grid("layers.{}.up.weight", ((8, 9),)): ("F32", (4, 8)),
    Grid("layers.{}.experts.{}.up", ((0, 1), (0, 1))): ("U8", (2,)),
}
HEADERS = {name: header for grid, header in BY_GRID.items() for name in grid.names()}


@pytest.mark.parametrize(
    ("glob", "name"),
    [
        ("embed.weight", "embed.weight"),
        ("layers.*.up.weight", "layers.0.up.weight"),
        ("layers.7.up.weight", "layers.7.up.weight"),
        ("layers.8.*", "layers.8.up.weight"),
        ("layers.*.experts.1.up", "layers.0.experts.1.up"),
        ("*.experts.*", "layers.0.experts.0.up"),
        ("layers.2.up.weight", None),
        ("head.weight", None),
    ],
)
def test_first_named(glob: str, name: str | None) -> None:
    expected = (name, HEADERS[name]) if name else None
    assert Evidence("table", {}, HEADERS, grids=Grids(BY_GRID)).first_named(glob) == expected
    assert Evidence("file", {}, HEADERS).first_named(glob) == expected


def test_without_headers_there_is_none() -> None:
    assert Evidence("config.json", {}).first_named("*") is None
