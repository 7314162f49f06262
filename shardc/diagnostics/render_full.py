"""The format `full`: each finding with an excerpt of the text, the values it depends on, and the next step."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache

from shardc.diagnostics.diagnostic import Diagnostic, Value
from shardc.diagnostics.excerpt import Gutter, Mark, excerpt
from shardc.diagnostics.source_lines import split_lines
from shardc.diagnostics.style import Style, ansi, plain
from shardc.diagnostics.visible import columns, visible
from shardc.diagnostics.wording import location, valid_choices, word

_NARROWEST_GUTTER = 2
_SAME_CAUSE_NAMED = 6


def render_full(diagnostics: Iterable[Diagnostic], *, read: Callable[[str], str | None], color: bool = False) -> str:
    """Findings in the order given, a blank line between them. `read` gives a file's text, None where it has none."""

    @cache
    def lines_of(file: str) -> list[str] | None:
        text = read(file)
        return None if text is None else split_lines(text)

    style = ansi if color else plain
    return "\n\n".join("\n".join(_finding(diagnostic, lines_of, style)) for diagnostic in diagnostics)


def _finding(diagnostic: Diagnostic, lines_of: Callable[[str], Sequence[str] | None], style: Style) -> Iterator[str]:
    head = style(f"{diagnostic.severity}[{diagnostic.code}]", diagnostic.severity)
    yield head + style(f": {visible(diagnostic.message)}", "message")

    marks = _marks(diagnostic)
    gutter = Gutter(max([_NARROWEST_GUTTER, *(len(str(mark.line)) for mark in marks)]), style)
    open_excerpt = False
    for file_marks in _by_file(marks):
        if open_excerpt:
            yield gutter.unnumbered()
        first = file_marks[0]
        yield gutter.arrow("-->" if first.primary else ":::", visible(location(first.label.span)))
        lines = lines_of(first.label.span.file)
        open_excerpt = lines is not None
        if lines is not None:
            yield gutter.unnumbered()
            yield from excerpt(lines, file_marks, gutter)
    if open_excerpt:
        yield gutter.unnumbered()
    yield from map(gutter.footer, _footers(diagnostic))


def _marks(diagnostic: Diagnostic) -> list[Mark]:
    """The labels to draw, the primary one first."""
    related = [Mark(label, False, diagnostic.severity) for label in diagnostic.related]
    return [Mark(diagnostic.label, True, diagnostic.severity), *related] if diagnostic.label else related


def _by_file(marks: Iterable[Mark]) -> list[list[Mark]]:
    """The marks of each file, files in the order in which they are first named."""
    files: dict[str, list[Mark]] = {}
    for mark in marks:
        files.setdefault(mark.label.span.file, []).append(mark)
    return list(files.values())


def _footers(diagnostic: Diagnostic) -> Iterator[str]:
    """What stands after `=`, a line each."""
    yield from _where(diagnostic.values)
    yield from map(visible, valid_choices(diagnostic))
    yield from (f"note: {visible(note)}" for note in diagnostic.notes)
    if diagnostic.help:
        yield f"help: {visible(diagnostic.help)}"
    if diagnostic.same_cause:
        yield f"same cause: {visible(_same_cause(diagnostic.same_cause))}"
    yield f"more: shardc explain {diagnostic.code}"


def _where(values: Sequence[Value]) -> Iterator[str]:
    """`where head_dim = 128  specs/configs/x.json:3`, the names, values and sources in columns."""
    rows = [(visible(value.name), visible(word(value.value)), visible(value.source)) for value in values]
    name_columns = max((columns(name) for name, _, _ in rows), default=0)
    word_columns = max((columns(shown) for _, shown, _ in rows), default=0)
    for index, (name, shown, source) in enumerate(rows):
        lead = "where" if index == 0 else "     "
        yield f"{lead} {_pad(name, name_columns)} = {_pad(shown, word_columns)}  {source}".rstrip()


def _pad(text: str, to_columns: int) -> str:
    return text + " " * (to_columns - columns(text))


def _same_cause(names: Sequence[str]) -> str:
    """`a (line 32), b`; of more than six, the first six and how many more."""
    listed = ", ".join(names[:_SAME_CAUSE_NAMED])
    more = len(names) - _SAME_CAUSE_NAMED
    return f"{listed} and {more} more" if more > 0 else listed
