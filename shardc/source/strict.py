"""The part of YAML that a spec may use: mappings, sequences, and scalars that mean what they look like.

Refused, each with its place: duplicate keys, anchors, aliases, tags, several documents, and the words that YAML 1.1
reads as something else (`no`, `017`, `12:30:45`, `1_000`, dates, `.inf`). What is left nobody can misread.
"""

from __future__ import annotations

import re
from typing import Any

import yaml
from msgspec import Struct, field

MAX_BYTES = 250_000
MAX_DEPTH = 32

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_INT = re.compile(r"-?(0|[1-9][0-9]{0,18})\Z")
_BOOL = {"true": True, "false": False}
_NULL = ("null", "~", "")
_KINDS = {"bool": "true or false", "int": "a number", "float": "a fraction", "null": "null", "timestamp": "a date"}
_PLAIN_STRING = "tag:yaml.org,2002:str"


class Place(Struct, frozen=True):
    """Lines and columns from 1; `end_col` is the column after the last character; `plain`: an unquoted scalar."""

    line: int
    col: int
    end_line: int
    end_col: int
    plain: bool = False


class Fault(Struct, frozen=True):
    code: str
    message: str
    place: Place
    label: str = ""
    help: str = ""


class Parsed(Struct):
    data: object = None
    keys: dict[tuple[str | int, ...], Place] = field(default_factory=dict)
    values: dict[tuple[str | int, ...], Place] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)


def parse(text: str, loader: type = _LOADER) -> Parsed:
    """`text` as data and places, or the faults that stand in the way; every fault of one kind is reported."""
    out = Parsed()
    if len(text.encode()) > MAX_BYTES:
        out.faults.append(Fault("SHD005", f"the file is larger than {MAX_BYTES:,} bytes", Place(1, 1, 1, 1)))
        return out
    unprintable = yaml.reader.Reader.NON_PRINTABLE.search(text)
    if unprintable:
        line = text.count("\n", 0, unprintable.start()) + 1
        col = unprintable.start() - text.rfind("\n", 0, unprintable.start())
        message = f"not YAML: the character U+{ord(unprintable[0]):04X} may not stand in a file"
        out.faults.append(Fault("SHD001", message, Place(line, col, line, col + 1)))
        return out
    try:
        _refuse_features(text, loader, out)
        if out.faults:
            return out
        node = yaml.compose(text, Loader=loader)
    except yaml.MarkedYAMLError as error:
        out.faults.append(_syntax_fault(error, text))
        return out
    except yaml.YAMLError as error:
        out.faults.append(Fault("SHD001", f"not YAML: {error}".splitlines()[0], Place(1, 1, 1, 1)))
        return out
    if node is not None:
        out.data = _construct(node, (), out)
    return out


def _syntax_fault(error: yaml.MarkedYAMLError, text: str) -> Fault:
    mark, begun = error.problem_mark or error.context_mark, error.context_mark
    line, col = (mark.line, mark.column) if mark else (0, 0)
    place = Place(line + 1, col + 1, line + 1, col + 2)
    if text.split("\n")[line : line + 1] and text.split("\n")[line][col : col + 1] == "\t":
        return Fault("SHD001", "not YAML: a tab where an item begins", place, help="indent with spaces")
    label = f"{error.context}, begun on line {begun.line + 1}" if begun and begun.line != line else ""
    return Fault("SHD001", f"not YAML: {error.problem or error.context or 'no reason given'}", place, label)


def _refuse_features(text: str, loader: type, out: Parsed) -> None:
    """One pass over the events: depth is bounded before anything recurses over the text."""
    depth = documents = 0
    for event in yaml.parse(text, Loader=loader):
        place = _place(event.start_mark, event.end_mark)
        if isinstance(event, yaml.DocumentStartEvent):
            documents += 1
            if event.version or event.tags:
                out.faults.append(Fault("SHD003", "directives (%) are not part of the language", place))
            if documents > 1:
                out.faults.append(Fault("SHD003", "a spec file holds one document", place, help="split the file"))
        elif isinstance(event, yaml.AliasEvent):
            out.faults.append(
                Fault(
                    "SHD003",
                    f"alias *{event.anchor}: YAML aliases are not part of the language",
                    place,
                    help="repeat the text, name it in `let`, or take a group over with `like`",
                )
            )
        elif isinstance(event, yaml.NodeEvent):
            if event.anchor:
                out.faults.append(
                    Fault(
                        "SHD003",
                        f"anchor &{event.anchor}: YAML anchors are not part of the language",
                        place,
                        help="repeat the text, name it in `let`, or take a group over with `like`",
                    )
                )
            tag = getattr(event, "tag", None)
            if tag:
                out.faults.append(Fault("SHD003", f"tag {tag}: YAML tags are not part of the language", place))
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > MAX_DEPTH:
                out.faults.append(Fault("SHD005", f"nested deeper than {MAX_DEPTH} levels", place))
                return
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def _construct(node: yaml.Node, path: tuple[str | int, ...], out: Parsed) -> object:
    out.values[path] = _place(node.start_mark, node.end_mark, _is_plain(node))
    if isinstance(node, yaml.MappingNode):
        return _mapping(node, path, out)
    if isinstance(node, yaml.SequenceNode):
        return [_construct(item, (*path, i), out) for i, item in enumerate(node.value)]
    return _scalar(node, out)  # type: ignore[arg-type]  # compose() gives these three kinds only


def _mapping(node: yaml.MappingNode, path: tuple[str | int, ...], out: Parsed) -> dict[str, object]:
    data: dict[str, object] = {}
    for key_node, value_node in node.value:
        place = _place(key_node.start_mark, key_node.end_mark)
        if not isinstance(key_node, yaml.ScalarNode):
            out.faults.append(Fault("SHD003", "a key must be a word", place))
            continue
        key = key_node.value
        if _is_plain(key_node) and key == "<<":
            out.faults.append(Fault("SHD003", "merge keys (<<) are not part of the language", place, help="use `like`"))
            continue
        if key in data:
            first = out.keys[(*path, key)]
            out.faults.append(
                Fault(
                    "SHD002", f"`{key}` is given twice", place, f"first given on line {first.line}", "keep one of them"
                )
            )
            continue
        out.keys[(*path, key)] = place
        data[key] = _construct(value_node, (*path, key), out)
    return data


def _scalar(node: yaml.ScalarNode, out: Parsed) -> object:
    text: str = node.value
    if not _is_plain(node):
        return text
    if text in _NULL:
        return None
    if text in _BOOL:
        return _BOOL[text]
    if _INT.match(text):
        return int(text)
    if node.tag != _PLAIN_STRING:
        kind = _KINDS.get(node.tag.rsplit(":", 1)[-1], "a sign")
        out.faults.append(
            Fault(
                "SHD004",
                f"`{text}` is {kind} to YAML, not the word it looks like",
                _place(node.start_mark, node.end_mark),
                help=f'write "{text}" if the word is meant',
            )
        )
    return text


def _is_plain(node: yaml.Node) -> bool:
    """An unquoted scalar; its style is None to the Python loader and '' to the C one."""
    return isinstance(node, yaml.ScalarNode) and not node.style


def _place(start: Any, end: Any, plain: bool = False) -> Place:
    """`start` and `end` are marks of either loader: lines and columns from 0."""
    return Place(start.line + 1, start.column + 1, end.line + 1, end.column + 1, plain)
