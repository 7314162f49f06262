"""The fields of a spec itself: its architectures, what it ignores, and its config symbols."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from shardc.plan.resolved import Resolved, Symbol
from shardc.review.compare.fields import Fields, changed, classes_of, of_symbol
from shardc.review.compare.meaning import Meaning
from shardc.review.compare.renamed import renamed
from shardc.review.diff import Class, Field

_EQUAL = "equal formula"
#: A field that differs, and what that means whatever the config.
Meant = tuple[Field, tuple[Class, ...]]


def spec_fields(before: Resolved, after: Resolved) -> list[Meant]:
    """Every field that is not what it was."""
    return [*_head(before, after), *_symbols(before, after)]


def _head(before: Resolved, after: Resolved) -> Iterator[Meant]:
    for one in changed(_shown(before), _shown(after)):
        if one.name == "root":
            yield one, ("narrows", "widens")
        elif one.name == "ignore":
            same = _ignored(before) == _ignored(after)
            yield (replace(one, note="the same in another order"), ()) if same else (one, ("coverage",))
        else:
            yield one, tuple(classes_of([one]))


def _shown(resolved: Resolved) -> Fields:
    spec = resolved.spec
    return {
        "architectures": ", ".join(spec.architectures),
        "root": spec.root,
        "ignore": ", ".join(ignore.name for ignore in spec.ignore) or None,
    }


def _ignored(resolved: Resolved) -> set[str]:
    return {ignore.name for ignore in resolved.spec.ignore}


def _symbols(before: Resolved, after: Resolved) -> Iterator[Meant]:
    old, new = Meaning(before), Meaning(after)
    other = renamed(before.symbols, after.symbols, old.symbol, new.symbol)
    for gone, new_name in other.items():
        yield Field("config.name", gone, new_name, "renamed"), ()
    for name in dict.fromkeys([*after.symbols, *before.symbols]):
        if name in other or name in other.values():
            continue
        was, is_ = before.symbols.get(name), after.symbols.get(name)
        if was is not None and is_ is not None:
            same = old.symbol(name) == new.symbol(name)
            for one in changed(of_symbol(was), of_symbol(is_)):
                yield _of(name, one, _EQUAL if same else ""), () if same else tuple(classes_of([one]))
        if was is None and is_ is not None:
            known = new.symbol(name) in old.symbols
            yield from _alone(is_, changed({}, of_symbol(is_)), known, "narrows")
        if was is not None and is_ is None:
            known = old.symbol(name) in new.symbols
            yield from _alone(was, changed(of_symbol(was), {}), known, "widens")


def _alone(symbol: Symbol, fields: list[Field], known: bool, needed: Class) -> Iterator[Meant]:
    """A symbol of one version alone: without an `else`, a config has to have it."""
    classes = () if known or symbol.otherwise is not None else (needed,)
    for one in fields:
        yield _of(symbol.name, one, "known by another name" if known else ""), classes


def _of(symbol: str, field: Field, note: str) -> Field:
    return replace(field, name=f"config.{symbol}.{field.name}", note=note)
