"""Findings about the files of a checkpoint, and their grouping: one finding per file and kind of fault."""

from __future__ import annotations

import reprlib
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from shardc.diagnostics import Diagnostic, Label, Value

_MAX_NAME = 200
"""Characters of a tensor's name that a message shows."""

_repr = reprlib.Repr()
_repr.maxstring = _repr.maxother = 80
_repr.maxlist = _repr.maxdict = 8


class Fault(Struct, frozen=True):
    """One thing wrong with one tensor of a file. Faults of the same `problem` are one finding."""

    name: str
    problem: str
    expected: str
    found: str


def quoted(name: str) -> str:
    """A name of a file's making, in backticks, cut to a length that a message can carry."""
    return f"`{name}`" if len(name) <= _MAX_NAME else f"`{name[:_MAX_NAME]}…`"


def shown(value: object) -> str:
    """A JSON value as a short text: long strings and lists, and deep nesting, are cut."""
    return _repr.repr(value)


def broken_file(
    path: Path,
    problem: str,
    *,
    expected: str,
    found: str,
    help: str = "",
    label: Label | None = None,
    same_cause: tuple[str, ...] = (),
    code: str = "SHD406",
) -> Diagnostic:
    """A file that is not what its name promises."""
    return Diagnostic(
        code=code,
        message=f"{path}: {problem}",
        label=label,
        values=(Value("expected", expected), Value("found", found)),
        help=help,
        same_cause=same_cause,
        about="" if label else str(path),
    )


def unreadable(path: Path, error: Exception, *, help: str = "") -> Diagnostic:
    """SHD406: the operating system, or the decompressor, refuses the file."""
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return broken_file(path, "cannot be read", expected="a readable file", found=reason, help=help)


def bad_index(
    path: Path, problem: str, *, expected: str, found: str, help: str = "", same_cause: tuple[str, ...] = ()
) -> Diagnostic:
    """SHD407: the files of a checkpoint and what says where each tensor is do not agree."""
    return broken_file(path, problem, code="SHD407", expected=expected, found=found, help=help, same_cause=same_cause)


def broken_tensors(path: Path, faults: Iterable[Fault], *, help: str) -> list[Diagnostic]:
    """One SHD406 per problem, with the first tensor's values; the other tensors are its `same_cause`."""
    by_problem: dict[str, list[Fault]] = {}
    for fault in faults:
        by_problem.setdefault(fault.problem, []).append(fault)
    return [
        broken_file(
            path,
            f"{quoted(first.name)} {problem}",
            expected=first.expected,
            found=first.found,
            help=help,
            same_cause=tuple(fault.name for fault in others),
        )
        for problem, (first, *others) in by_problem.items()
    ]
