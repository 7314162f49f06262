"""One line of a file as it is printed, and where each of its characters lands on the screen."""

from __future__ import annotations

from itertools import accumulate

from msgspec import Struct

from shardc.diagnostics.visible import columns, visible

LONGEST = 160  # characters of one line
_TAB = " " * 4
_CUT = "…"


class ShownLine(Struct, frozen=True):
    """The printed `text`, and `starts[i]`: the screen column, from 0, of character `first + i` of the file's line.

    `starts` has one entry more than characters shown, for the position after the last one.
    """

    text: str
    first: int
    starts: tuple[int, ...]

    def column(self, index: int) -> int:
        """The screen column of character `index`, from 0; of the nearer cut or end where it is not shown."""
        if index < self.first:
            return 0
        return self.starts[min(index - self.first, len(self.starts) - 1)]


def show_line(line: str, focus: tuple[int, int]) -> ShownLine:
    """Print `line`; of one longer than `LONGEST`, the part around the characters `[focus[0], focus[1])`."""
    first, end = _window(len(line), focus)
    cells = [_TAB if char == "\t" else visible(char) for char in line[first:end]]
    before = _CUT if first > 0 else ""
    after = _CUT if end < len(line) else ""
    starts = tuple(accumulate(map(columns, cells), initial=len(before)))
    return ShownLine(before + "".join(cells) + after, first, starts)


def _window(length: int, focus: tuple[int, int]) -> tuple[int, int]:
    """The characters to show, [first, end): all, or `LONGEST` with the focus in the middle, or from its start."""
    if length <= LONGEST:
        return 0, length
    start, end = focus
    margin = max(0, LONGEST - (end - start)) // 2
    first = max(0, min(start - margin, length - LONGEST))
    return first, first + LONGEST
