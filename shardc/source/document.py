"""A YAML file as plain data, with the place of every key and value."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from shardc.diagnostics import Diagnostic, Label, Span
from shardc.source.strict import Place, parse

#: The way to a value: keys of mappings and indices of sequences, outermost first.
Path_ = tuple[str | int, ...]


class Document(Struct, frozen=True):
    """One YAML file. `data` holds dicts, lists, str, int, bool, None; `keys` and `values` say where each stands."""

    file: str
    data: object
    keys: Mapping[Path_, Place]
    values: Mapping[Path_, Place]

    def value(self, *path: str | int) -> Span:
        """Where the value at `path` stands, or, if it is absent, the nearest thing around it that is there."""
        for length in range(len(path), -1, -1):
            place = self.values.get(path[:length])
            if place is not None:
                return _span(self.file, place)
        return Span(self.file, 1, 1, 1, 1)

    def key(self, *path: str | int) -> Span:
        """Where the key at `path` stands, or its value if it has no key, or the nearest thing around it."""
        place = self.keys.get(path)
        return _span(self.file, place) if place else self.value(*path)

    def inside(self, path: Path_, start: int, stop: int) -> Span:
        """Columns start..stop of a formula at `path`; the whole value where the text is not one plain line."""
        place = self.values.get(path)
        if place is None or not place.plain or place.line != place.end_line:
            return self.value(*path)
        return Span(self.file, place.line, place.col + start, place.line, min(place.col + stop, place.end_col))


def load(path: Path, file: str | None = None) -> tuple[Document | None, list[Diagnostic]]:
    """Read `path`. No document where the text is not YAML as shardc takes it; the findings say why.

    `file` is the name to show, by default the path as given.
    """
    shown = file or str(path)
    try:
        text = path.read_bytes().decode("utf-8")
    except OSError as error:
        return None, [Diagnostic("SHD001", f"cannot read {shown}: {error.strerror}", about=shown)]
    except UnicodeDecodeError as error:
        message = f"{shown} is not UTF-8 (byte {error.start})"
        return None, [Diagnostic("SHD001", message, help="save the file as UTF-8", about=shown)]
    return loads(text, shown)


def loads(text: str, file: str) -> tuple[Document | None, list[Diagnostic]]:
    """The same for text in hand."""
    parsed = parse(text)
    findings = [Diagnostic(f.code, f.message, Label(_span(file, f.place), f.label), help=f.help) for f in parsed.faults]
    if findings:
        return None, findings
    return Document(file, parsed.data, parsed.keys, parsed.values), []


def _span(file: str, place: Place) -> Span:
    return Span(file, place.line, place.col, place.end_line, place.end_col)
