"""Strict reading of JSON from files of unknown origin: an object, or the reason why not; never an exception."""

from __future__ import annotations

import gzip
import json
import zlib
from collections import Counter
from itertools import chain
from pathlib import Path

import msgspec
from msgspec import Struct

from shardc.checkpoint.file_findings import broken_file, quoted, shown, unreadable
from shardc.diagnostics import Diagnostic, Label, Span

MAX_JSON_BYTES = 100_000_000
"""Bytes of a JSON file, after decompression, that are read at most."""


class JsonFile(Struct, frozen=True):
    """A JSON file that holds an object: its path as given, its (decompressed) text and the object."""

    path: Path
    text: str
    data: dict[str, object]


class JsonError(Struct, frozen=True):
    """Why a text is not a JSON object; `line` and `col` count from 1, and are 0 where unknown."""

    reason: str
    line: int = 0
    col: int = 0


class _DuplicateKey(Exception):
    pass


def parse_object(data: bytes) -> tuple[dict[str, object], str] | JsonError:
    """The object that UTF-8 JSON holds, and its text. Refuses duplicate keys, half surrogates, unbounded nesting."""
    try:
        text = data.decode()
        parsed = decoded(text)
        if not _as_many_keys(text.count(":"), parsed):
            parsed = json.loads(text, object_pairs_hook=_without_duplicates)
        if "\\" in text and "\\ud" in text.lower():
            json.dumps(parsed, ensure_ascii=False).encode()
    except UnicodeDecodeError as error:
        return JsonError(f"not UTF-8 at byte {error.start}")
    except json.JSONDecodeError as error:
        return JsonError(error.msg, error.lineno, error.colno)
    except _DuplicateKey as error:
        return JsonError(f"the key {error} twice in one object")
    except UnicodeEncodeError:
        return JsonError("half of a surrogate pair in a string")
    except RecursionError:
        return JsonError("nested too deeply")
    except ValueError:
        return JsonError("a number with too many digits")
    return (parsed, text) if isinstance(parsed, dict) else JsonError(shown(parsed))


def decoded(text: str) -> object:
    """What `json.loads` makes of it, or raises, in half the time. It gets what msgspec refuses, such as NaN."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return json.loads(text)


def read_json(path: Path) -> JsonFile | Diagnostic:
    """Reads a `.json` or `.json.gz` file once; what cannot be read or is no JSON object is SHD406."""
    packed = path.suffix == ".gz"
    try:
        if not path.is_file():
            return broken_file(path, "is missing", expected="a JSON file", found="no such file")
        with gzip.open(path) if packed else path.open("rb") as file:
            data = file.read(MAX_JSON_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        return unreadable(path, error)
    if len(data) > MAX_JSON_BYTES:
        return broken_file(path, "is too large", expected=f"at most {MAX_JSON_BYTES:,} bytes", found="more")
    parsed = parse_object(data)
    if isinstance(parsed, JsonError):
        return _not_json(path, parsed, packed)
    value, text = parsed
    return JsonFile(path, text, value)


def _not_json(path: Path, error: JsonError, packed: bool) -> Diagnostic:
    located = error.line and not packed
    label = Label(Span(str(path), error.line, error.col, error.line, error.col + 1)) if located else None
    return broken_file(path, "does not hold a JSON object", expected="a JSON object", found=error.reason, label=label)


def _as_many_keys(colons: int, parsed: object) -> bool:
    """Whether a parsed text has a key for each of its colons: then no key stood twice in an object.

    Parsing keeps one of two equal keys, while both take a colon. Colons of strings count as well: False is no proof.
    """
    level = [parsed]
    while level:
        objects = [value for value in level if type(value) is dict]
        colons -= sum(map(len, objects))
        if colons <= 0:
            return colons == 0
        lists = [value for value in level if type(value) is list]
        level = [*chain.from_iterable(map(dict.values, objects)), *chain.from_iterable(lists)]
    return False


def _without_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
    mapping = dict(pairs)
    if len(mapping) != len(pairs):
        [(key, _)] = Counter(key for key, _ in pairs).most_common(1)
        raise _DuplicateKey(quoted(key))
    return mapping
