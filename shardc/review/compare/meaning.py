"""Names of a spec replaced by what they mean: then a symbol or an axis that has another name only is no change.

A meaning is a digest: written out, what a chain of axes or symbols means would double with each link.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Mapping

from shardc.layout.expr import INDEX, Expr, Name, walk
from shardc.layout.show import show
from shardc.plan.names import starred
from shardc.plan.resolved import Axis, Contract, Entry, Output, Resolved
from shardc.review.compare.fields import Fields, of_axis, of_entry, of_symbol


class Meaning:
    """What the names of one version mean."""

    def __init__(self, resolved: Resolved) -> None:
        self.resolved = resolved
        self._symbols: dict[str, str] = {}
        for name in resolved.symbols:
            self._symbol(name)
        self._axes = self._axes_of(resolved.axes, {}, self._symbols)
        self.symbols = frozenset(self._symbols.values())

    def symbol(self, name: str) -> str:
        return self._symbols[name]

    def axis(self, name: str, entry: Entry | None = None) -> str:
        """An axis of the spec, or one that a tensor's group has."""
        return (self._of_group(entry) if entry is not None and entry.axes else self._axes)[name]

    def entry(self, entry: Entry) -> Fields:
        """The fields of a tensor; indices are numbered, and lets are carried out."""
        names = self._names(entry)
        fields = {**of_entry(entry), **self.names(entry)}
        fields["shape"] = ", ".join(_said(dim, names) for dim in entry.dims)
        fields["of"] = "; ".join(names[loop.axis] if loop.axis else "" for loop in entry.loops)
        fields["only"] = str(sorted(entry.on.items()))
        if entry.tie is not None:
            when = _said(entry.tie.when, names) if entry.tie.when is not None else ""
            fields["tied_to"] = f"{entry.tie.name} {when}"
        return fields

    def names(self, entry: Entry) -> Fields:
        """What decides which tensors there are: the ranges of the indices, and the conditions."""
        names = self._names(entry)
        ranges = [
            f"{names.get(loop.index)}: {_said(loop.start, names)} {_said(loop.stop, names)}" for loop in entry.loops
        ]
        return {"for": "; ".join(ranges), "when": " and ".join(_said(when, names) for when in entry.when)}

    def contract(self, contract: Contract) -> Fields:
        """What a contract asks for, of what, and when."""
        names = {**self._symbols, **self._axes}
        given = {name: _said(expr, names) for name, expr in contract.given.items()}
        when = _said(contract.when, names) if contract.when is not None else None
        return {**given, "requires": show(contract.require), "when": when}

    def output(self, output: Output) -> Hashable:
        """What an output is built of, and how; its own name not."""
        members = []
        for member in output.members:
            names = self._names(member.entry)
            layouts = [_said(one, names) for one in (member.origin, member.to) if one is not None]
            members.append((starred(member.entry.pattern), tuple(self.entry(member.entry).items()), *layouts))
        first = output.members[0].entry
        stack = INDEX.findall(first.pattern).index(output.stack) if output.stack else None
        return tuple(members), self.axis(output.by, first) if output.by else None, stack

    def _names(self, entry: Entry) -> dict[str, str]:
        """Everything that a tensor's formulas may name."""
        return {**self._symbols, **self._of_group(entry), **_indices(entry)}

    def _symbol(self, name: str) -> str:
        if name not in self._symbols:
            symbol = self.resolved.symbols[name]
            self._symbols[name] = ""  # A circle is reported elsewhere; here it ends.
            parts = dict(of_symbol(symbol))
            if symbol.otherwise is not None:
                inner = {n.id: self._symbol(n.id) for n in walk(symbol.otherwise) if isinstance(n, Name)}
                parts["else"] = _said(symbol.otherwise, inner)
            self._symbols[name] = _digest("symbol", parts)
        return self._symbols[name]

    def _of_group(self, entry: Entry) -> dict[str, str]:
        return self._axes_of(entry.axes, self._axes, {**self._symbols, **_indices(entry)})

    @staticmethod
    def _axes_of(axes: Mapping[str, Axis], outer: Mapping[str, str], numbers: Mapping[str, str]) -> dict[str, str]:
        """Axes of the spec, or of a group; parents come before their children."""
        known = dict(outer)
        for axis in axes.values():
            parts = {**of_axis(axis), "role": axis.role}
            parts["size"] = _said(axis.size, numbers)
            parts["within"] = known.get(axis.within or "")
            known[axis.name] = _digest("axis", parts)
        return known


def _indices(entry: Entry) -> dict[str, str]:
    return {index: f"<{i}>" for i, index in enumerate(INDEX.findall(entry.pattern))}


def _said(expr: Expr, names: Mapping[str, str]) -> str:
    return show(expr, lambda name: names.get(name, name))


def _digest(what: str, parts: Fields) -> str:
    return f"<{what} {hashlib.sha256(repr(sorted(parts.items())).encode(errors='surrogatepass')).hexdigest()}>"
