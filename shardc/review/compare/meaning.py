"""Names of a spec replaced by what they mean: then a symbol or an axis that has another name only is no change."""

from __future__ import annotations

from collections.abc import Mapping

from shardc.layout.expr import INDEX, Expr, Name, walk
from shardc.layout.show import show
from shardc.plan.resolved import Axis, Entry, Resolved
from shardc.review.compare.fields import Fields, of_axis, of_entry, of_symbol


class Meaning:
    """What the names of one version mean."""

    def __init__(self, resolved: Resolved) -> None:
        self.resolved = resolved
        self._symbols: dict[str, str] = {}
        for name in resolved.symbols:
            self._symbol(name)
        self._axes = self._axes_of(resolved.axes, {})

    def symbol(self, name: str) -> str:
        return self._symbols[name]

    def axis(self, name: str, entry: Entry | None = None) -> str:
        """An axis of the spec, or one that a tensor's group has."""
        return (self._of_group(entry) if entry is not None and entry.axes else self._axes)[name]

    def entry(self, entry: Entry) -> Fields:
        """The fields of a tensor; indices are numbered, and lets are carried out."""
        names = {**self._symbols, **self._of_group(entry)}
        names |= {index: f"<{i}>" for i, index in enumerate(INDEX.findall(entry.pattern))}
        fields = dict(of_entry(entry))
        fields["shape"] = ", ".join(self._said(dim, names) for dim in entry.dims)
        fields["when"] = " and ".join(self._said(when, names) for when in entry.when)
        loops = ((loop.start, loop.stop, names.get(loop.axis or "", ""), names.get(loop.index)) for loop in entry.loops)
        fields["for"] = "; ".join(f"{i}: {self._said(a, names)} {self._said(b, names)} {of}" for a, b, of, i in loops)
        if entry.tie is not None:
            when = self._said(entry.tie.when, names) if entry.tie.when is not None else ""
            fields["tied_to"] = f"{entry.tie.name} {when}"
        return fields

    def said(self, expr: Expr) -> str:
        """A formula of the spec itself."""
        return self._said(expr, {**self._symbols, **self._axes})

    def _symbol(self, name: str) -> str:
        if name not in self._symbols:
            symbol = self.resolved.symbols[name]
            self._symbols[name] = ""  # A circle is reported elsewhere; here it ends.
            parts = dict(of_symbol(symbol))
            if symbol.otherwise is not None:
                inner = {n.id: self._symbol(n.id) for n in walk(symbol.otherwise) if isinstance(n, Name)}
                parts["else"] = self._said(symbol.otherwise, inner)
            self._symbols[name] = f"<{parts}>"
        return self._symbols[name]

    def _of_group(self, entry: Entry) -> dict[str, str]:
        return self._axes_of(entry.axes, self._axes)

    def _axes_of(self, axes: Mapping[str, Axis], outer: Mapping[str, str]) -> dict[str, str]:
        """Axes of the spec, or of a group; parents come before their children."""
        known = dict(outer)
        for axis in axes.values():
            parts = dict(of_axis(axis))
            parts["size"] = self._said(axis.size, self._symbols)
            parts["within"] = known.get(axis.within or "")
            known[axis.name] = f"<axis {axis.role if axis.role != 'plain' else ''} {parts}>"
        return known

    @staticmethod
    def _said(expr: Expr, names: Mapping[str, str]) -> str:
        return show(expr, lambda name: names.get(name, name))
