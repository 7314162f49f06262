"""The rows under a quoted line: `^^^^` and `----` at the labelled columns, with the labels' words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

from msgspec import Struct

from shardc.diagnostics.style import Role, Style


class Marker(Struct, frozen=True):
    """A label at the screen columns [start, end) of its line, from 0; `text` is visible already."""

    start: int
    end: int
    text: str
    symbol: Literal["^", "-"]
    role: Role

    def touches(self, other: Marker) -> bool:
        """Whether the two could not be told apart on one row."""
        return self.start <= other.end and other.start <= self.end


def marker_rows(markers: Iterable[Marker], style: Style) -> Iterator[str]:
    """Draw the markers of one line on as few rows as their columns allow, the primary one on the first.

    ```
    ----  ----  ^^^^ the rightmost marker's text follows it
    |     the others' texts stand below, from the right
    and so to the left
    ```
    """
    for layer in _layers(markers):
        rightmost, *others = sorted(layer, key=lambda marker: -marker.start)
        yield _row([_inline(rightmost), *((m.start, _underline(m), m.role) for m in others)], style)
        waiting = [marker for marker in others if marker.text]
        for position, marker in enumerate(waiting):
            stems = [(m.start, "|", m.role) for m in waiting[position + 1 :]]
            yield _row([(marker.start, marker.text, marker.role), *stems], style)


def _layers(markers: Iterable[Marker]) -> list[list[Marker]]:
    """Markers that can share a row, row by row."""
    layers: list[list[Marker]] = []
    for marker in sorted(markers, key=lambda marker: (marker.symbol != "^", -marker.start)):
        for layer in layers:
            if not any(marker.touches(other) for other in layer):
                layer.append(marker)
                break
        else:
            layers.append([marker])
    return layers


def _underline(marker: Marker) -> str:
    return marker.symbol * (marker.end - marker.start)


def _inline(marker: Marker) -> tuple[int, str, Role]:
    return marker.start, f"{_underline(marker)} {marker.text}".rstrip(), marker.role


def _row(pieces: Iterable[tuple[int, str, Role]], style: Style) -> str:
    """Set pieces (column, text, role) on one row; only the rightmost may hold wide characters."""
    row, column = "", 0
    for start, text, role in sorted(pieces):
        row += " " * (start - column) + style(text, role)
        column = start + len(text)
    return row
