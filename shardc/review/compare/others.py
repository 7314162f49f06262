"""What else a spec says: its axes, contracts and outputs, its symbols, and what it ignores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TypeVar

from shardc.diagnostics import Span
from shardc.plan.names import starred
from shardc.plan.resolved import Contract, Output, Resolved
from shardc.review.compare.fields import Fields, changed, of_axis, of_contract, of_output, of_symbol
from shardc.review.compare.meaning import Meaning
from shardc.review.diff import Field, Item

T = TypeVar("T")


def axis_items(before: Resolved, after: Resolved) -> tuple[Item, ...]:
    """Axes that were added, removed or renamed, or are dealt otherwise. What that does is said of their tensors."""
    old, new = Meaning(before), Meaning(after)
    renamed = _renamed(before.axes, after.axes, old.axis, new.axis)
    items = [
        Item(f"{was} -> {is_}", "changed", ("equal",), (Field("name", was, is_, "renamed"),), _at(after, "axes", is_))
        for was, is_ in renamed.items()
    ]
    left = {name: axis for name, axis in before.axes.items() if name not in renamed}
    now = {name: axis for name, axis in after.axes.items() if name not in renamed.values()}
    same = {name for name in left.keys() & now.keys() if old.axis(name) == new.axis(name)}
    return (*items, *_items(left, now, of_axis, lambda side, name: _at(side, "axes", name), before, after, same))


def contract_items(before: Resolved, after: Resolved) -> tuple[Item, ...]:
    """Contracts that were added or removed, or that ask for something else."""
    was, is_ = _numbered(before.contracts, _use), _numbered(after.contracts, _use)
    old, new = Meaning(before), Meaning(after)
    same = {
        name
        for name in was.keys() & is_.keys()
        if {key: old.said(expr) for key, expr in was[name].given.items()}
        == {key: new.said(expr) for key, expr in is_[name].given.items()}
    }

    def span(side: Resolved, name: str) -> Span:
        return side.document.value(*(was if side is before else is_)[name].path)

    return _items(was, is_, of_contract, span, before, after, same)


def output_items(before: Resolved, after: Resolved, cut: set[str]) -> tuple[Item, ...]:
    """Outputs that were added or removed, or are built otherwise; `cut` has those that differ on some rank."""
    was, is_ = _numbered(before.outputs, _pattern), _numbered(after.outputs, _pattern)
    same = was.keys() & is_.keys() - cut

    def span(side: Resolved, name: str) -> Span:
        return side.document.key(*(was if side is before else is_)[name].path)

    return _items(was, is_, of_output, span, before, after, same, otherwise=("layout",))


def spec_fields(before: Resolved, after: Resolved) -> tuple[Field, ...]:
    """Fields of the spec itself, and its config symbols."""
    out = changed(_head(before), _head(after))
    old, new = Meaning(before), Meaning(after)
    renamed = _renamed(before.symbols, after.symbols, old.symbol, new.symbol)
    out += [Field("config.name", was, is_, "renamed") for was, is_ in renamed.items()]
    for name in dict.fromkeys([*after.symbols, *before.symbols]):
        if name in renamed or name in renamed.values():
            continue
        sides = [of_symbol(side.symbols[name]) if name in side.symbols else {} for side in (before, after)]
        same = name in before.symbols and name in after.symbols and old.symbol(name) == new.symbol(name)
        for one in changed(*sides):
            note = "equal formula" if same else ""
            out.append(Field(f"config.{name}.{one.name}", one.before, one.after, note))
    return tuple(out)


def _head(resolved: Resolved) -> Fields:
    spec = resolved.spec
    return {
        "architectures": ", ".join(spec.architectures),
        "root": spec.root,
        "ignore": ", ".join(ignore.name for ignore in spec.ignore) or None,
    }


def _items(
    was: Mapping[str, T], is_: Mapping[str, T], fields: Callable[[T], Fields],
    span: Callable[[Resolved, str], Span], before: Resolved, after: Resolved, same: set[str],
    otherwise: tuple[()] | tuple[str] = (),
) -> tuple[Item, ...]:  # fmt: skip
    """One item for each that differs; those in `same` mean the same in other words."""
    out = []
    for name in dict.fromkeys([*is_, *was]):
        gone, new = name not in is_, name not in was
        differing = tuple(changed({} if new else fields(was[name]), {} if gone else fields(is_[name])))
        if name in same:
            differing = tuple(replace(one, note="equal formula") for one in differing)
        if differing or gone or new:
            status = "removed" if gone else "added" if new else "changed"
            classes = ("equal",) if name in same else otherwise
            out.append(Item(name, status, classes, differing, span(before if gone else after, name)))  # type: ignore[arg-type]
    return tuple(out)


def _renamed(
    was: Mapping[str, object], is_: Mapping[str, object], old: Callable[[str], str], new: Callable[[str], str]
) -> dict[str, str]:
    """Names that are gone, each with a new name that means the same."""
    fresh = [name for name in is_ if name not in was]
    out = {}
    for name in was:
        match = next((one for one in fresh if new(one) == old(name)), None) if name not in is_ else None
        if match is not None:
            fresh.remove(match)
            out[name] = match
    return out


def _numbered(things: Iterable[T], name: Callable[[T], str]) -> dict[str, T]:
    """By name; a second one of a name is `name #2`."""
    out: dict[str, T] = {}
    for thing in things:
        named, number = name(thing), 1
        while (key := named if number == 1 else f"{named} #{number}") in out:
            number += 1
        out[key] = thing
    return out


def _use(contract: Contract) -> str:
    return contract.use


def _pattern(output: Output) -> str:
    return starred(output.pattern)


def _at(side: Resolved, *path: str) -> Span:
    return side.document.key(*path)
