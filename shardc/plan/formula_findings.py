"""Formulas that have no value in one config (SHD110, SHD112), each shown where it stands in the spec."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from shardc.diagnostics import Diagnostic, Label, Value
from shardc.layout.errors import FormulaError
from shardc.layout.expr import Expr, names, walk
from shardc.layout.show import show
from shardc.plan.resolved import Entry, Resolved
from shardc.plan.symbols import Symbols
from shardc.source import Path_


def formula_findings(
    failed: Iterable[tuple[Entry, FormulaError]], resolved: Resolved, symbols: Symbols
) -> list[Diagnostic]:
    """One finding for each message; further entries that the same formula stops are its `same_cause`."""
    groups: dict[tuple[str, str], tuple[FormulaError, dict[str, Entry]]] = {}
    for entry, error in failed:
        groups.setdefault((error.code, error.message), (error, {}))[1][entry.pattern] = entry
    return [_finding(error, list(entries.values()), resolved, symbols) for error, entries in groups.values()]


def _finding(error: FormulaError, entries: list[Entry], resolved: Resolved, symbols: Symbols) -> Diagnostic:
    document, first = resolved.document, entries[0]
    label, used = Label(document.value(*first.path, "shape")), set[str]()
    for path, node in _nodes(first, resolved):
        if _is_about(error, node):
            label, used = Label(document.inside(path, *node.at)), names(node)
            break
    return Diagnostic(
        error.code,
        f"{first.pattern}: {error.message}",
        label,
        values=_values(used, symbols.values, symbols.sources),
        help=error.help or "correct the formula, or the config that it reads",
        same_cause=tuple(f"{entry.pattern} (line {document.key(*entry.path).line})" for entry in entries[1:]),
    )


def _values(used: set[str], values: Mapping[str, object], sources: Mapping[str, str]) -> tuple[Value, ...]:
    return tuple(Value(name, values[name], sources.get(name, "")) for name in sorted(used & values.keys()))


def _is_about(error: FormulaError, node: Expr) -> bool:
    return f"`{show(node)}`" in error.message


def _nodes(entry: Entry, resolved: Resolved) -> Iterator[tuple[Path_, Expr]]:
    """Every part of every formula that an entry depends on, with the place of the formula."""
    for path, expr in _formulas(entry, resolved):
        for node in walk(expr):
            yield path, node


def _formulas(entry: Entry, resolved: Resolved) -> Iterator[tuple[Path_, Expr]]:
    group = ("groups", entry.group)
    for loop in entry.loops:
        yield (*group, "for", loop.index), loop.start
        yield (*group, "for", loop.index), loop.stop
    # A group's condition comes first; the last one is the tensor's where it has one of its own.
    own = resolved.document.values.get((*entry.path, "when")) is not None
    for i, when in enumerate(entry.when):
        yield ((*entry.path, "when") if own and i == len(entry.when) - 1 else (*group, "when")), when
    if entry.tie is not None and entry.tie.when is not None:
        yield (*entry.path, "tied_to", "when"), entry.tie.when
    for i, dim in enumerate(entry.written):
        yield (*entry.path, "shape", i), dim
    for name, let in resolved.lets.items():
        yield ("let", name), let
    for name, let in entry.lets.items():
        yield (*entry.path[:2], "let", name), let
    for axis in (*entry.axes.values(), *resolved.axes.values()):
        yield (*axis.path, "size"), axis.size
