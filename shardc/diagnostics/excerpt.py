"""The labelled lines of one file, quoted with line numbers and markers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from msgspec import Struct

from shardc.diagnostics.diagnostic import Label, Severity
from shardc.diagnostics.marker_rows import Marker, marker_rows
from shardc.diagnostics.shown_line import ShownLine, show_line
from shardc.diagnostics.style import Style
from shardc.diagnostics.visible import visible


class Mark(Struct, frozen=True):
    """A label to draw: `^^^^` in the colour of `severity` where it is the primary one, else `----` in the gutter's."""

    label: Label
    primary: bool
    severity: Severity

    @property
    def line(self) -> int:
        return self.label.span.line


class Gutter(Struct, frozen=True):
    """The left margin, `width` columns for the line numbers."""

    width: int
    style: Style

    def numbered(self, number: int, text: str) -> str:
        return self._bar(str(number), text)

    def unnumbered(self, text: str = "") -> str:
        return self._bar("", text)

    def arrow(self, head: str, text: str) -> str:
        """`  --> specs/x.yaml:7:5`"""
        return f"{' ' * self.width}{self.style(head, 'gutter')} {text}"

    def footer(self, text: str) -> str:
        """`   = help: …`"""
        return f"{' ' * self.width} {self.style('=', 'gutter')} {text}"

    def gap(self) -> str:
        return self.style("...", "gutter")

    def _bar(self, number: str, text: str) -> str:
        return f"{self.style(f'{number:>{self.width}} |', 'gutter')} {text}".rstrip()


def excerpt(lines: Sequence[str], marks: Sequence[Mark], gutter: Gutter) -> Iterator[str]:
    """Quote each line of `lines` that has a mark, in line order, `...` between lines that are not adjacent.

    A mark beyond the end of the file is drawn under an empty line: the text may be the place of something missing.
    """
    previous: int | None = None
    for number, group in groupby(sorted(marks, key=lambda mark: mark.line), key=lambda mark: mark.line):
        if previous is not None and number > previous + 1:
            yield gutter.gap()
        previous = number
        line = lines[number - 1] if 1 <= number <= len(lines) else ""
        on_line = list(group)
        focus = next((mark for mark in on_line if mark.primary), on_line[0])
        shown = show_line(line, _characters(focus.label, line))
        yield gutter.numbered(number, shown.text)
        markers = [_marker(mark, line, shown) for mark in on_line]
        yield from map(gutter.unnumbered, marker_rows(markers, gutter.style))


def _characters(label: Label, line: str) -> tuple[int, int]:
    """The characters of `line` under the label, [start, end) from 0; a span of several lines runs to the line's end."""
    span = label.span
    start = min(max(span.col - 1, 0), len(line))
    end = span.end_col - 1 if span.end_line == span.line else len(line.rstrip())
    return start, max(start, min(end, len(line)))


def _marker(mark: Mark, line: str, shown: ShownLine) -> Marker:
    """Where the mark is drawn: at least one column wide, so that an empty span shows."""
    first, last = (shown.column(index) for index in _characters(mark.label, line))
    return Marker(
        start=first,
        end=max(last, first + 1),
        text=visible(mark.label.text),
        symbol="^" if mark.primary else "-",
        role=mark.severity if mark.primary else "gutter",
    )
