"""Fields of a spec in words, and which of them are not what they were."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec.structs import asdict

from shardc.layout.show import show
from shardc.layout.split import Dealing
from shardc.plan.resolved import Axis, Contract, Entry, Loop, Member, Output, Symbol
from shardc.review.diff import Class, Field

#: Not a field that is written: the collectives that follow from what is.
WORK = "collectives"
Fields = Mapping[str, str | None]
#: Fields that list what a file may have: more of them is more that loads.
_LISTS = ("dtype", "formats", "architectures", "keys")


def changed(before: Fields, after: Fields) -> list[Field]:
    """The fields that differ, in the order of the version after; of one that is new, those that are no default."""
    out = []
    for name in dict.fromkeys([*after, *before]):
        was, is_ = (side.get(name, _DEFAULTS.get(name)) for side in (before, after))
        if was != is_:
            out.append(Field(name, was if before else None, is_ if after else None))
    return out


def of_entry(entry: Entry) -> Fields:
    """A tensor's fields as a reader would write them."""
    out: dict[str, str | None] = {
        "shape": entry.formula,
        "shard": entry.kind,
        "dims": "[in, out]" if entry.swapped else None,
        "dtype": ", ".join(entry.dtypes),
        "load": entry.load,
        "formats": ", ".join(format.name for format in entry.formats),
        "for": "; ".join(map(_loop, entry.loops)) or None,
        "when": " and ".join(f"({show(w)})" if len(entry.when) > 1 else show(w) for w in entry.when) or None,
        "optional": "true" if entry.optional else None,
        "collective": entry.collective,
        "only": "; ".join(f"{over}: {', '.join(ends)}" for over, ends in sorted(entry.on.items())) or None,
    }
    if entry.tie is not None:
        out["tied_to"] = entry.tie.name + (f" when {show(entry.tie.when)}" if entry.tie.when is not None else "")
    return out


def of_axis(axis: Axis) -> Fields:
    """An axis with how it is dealt."""
    return {"size": show(axis.size), "over": axis.over, "within": axis.within, **_dealt(axis.how)}


def _dealt(how: Dealing) -> Fields:
    return {name: None if value is None else str(value) for name, value in asdict(how).items()}


def of_contract(contract: Contract) -> Fields:
    out: dict[str, str | None] = {name: show(expr) for name, expr in contract.written.items()}
    out["requires"] = show(contract.require)
    out["when"] = show(contract.when) if contract.when is not None else None
    return out


def of_output(output: Output) -> Fields:
    """An output, and what it is built of, in order."""
    return {"built of": ", ".join(map(_member, output.members)), "by": output.by, "stack": output.stack}


def _member(member: Member) -> str:
    """`q_proj.weight`, and the layouts between which its rows move."""
    name = str(member.entry.path[-1])
    if member.origin is None or member.to is None:
        return name
    return f"{name} from {show(member.origin)} to {show(member.to)}"


def of_symbol(symbol: Symbol) -> Fields:
    out: dict[str, str | None] = {"keys": ", ".join(symbol.keys) or None}
    out["header"] = f"dim {symbol.header.dim} of {symbol.header.tensor}" if symbol.header is not None else None
    out["else"] = show(symbol.otherwise) if symbol.otherwise is not None else None
    return out


def classes_of(fields: Iterable[Field]) -> list[Class]:
    """What fields mean by themselves, whatever the config: a longer list of formats loads more."""
    out: list[Class] = []
    for field in fields:
        if field.name in _LISTS:
            out += _more_or_less(_words(field.before), _words(field.after))
        elif field.name in ("optional", "tied_to", "else", "header"):
            out += _more_or_less({field.before} - {None}, {field.after} - {None})
        elif field.name == WORK:
            out.append("collectives")
    return out


def _more_or_less(was: set[str | None], is_: set[str | None]) -> list[Class]:
    more: list[Class] = ["widens"] if is_ - was else []
    less: list[Class] = ["narrows"] if was - is_ else []
    return more + less


#: What an axis has where it says nothing.
_DEFAULTS = _dealt(Dealing())


def _words(listed: str | None) -> set[str | None]:
    return set(listed.split(", ")) if listed else set()


def _loop(loop: Loop) -> str:
    """`layer: 0 .. layers`, `expert of experts`."""
    if loop.axis is not None and not loop.is_part:
        return f"{loop.index} of {loop.axis}"
    of = f" of {loop.axis}" if loop.axis is not None else ""
    return f"{loop.index}: {show(loop.start)} .. {show(loop.stop)}{of}"
