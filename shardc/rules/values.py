"""The config values that a finding depends on, by their names in config.json, each with its place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from shardc.diagnostics import Value
from shardc.layout.expr import Expr, names
from shardc.plan.bound import Bound
from shardc.plan.resolved import Axis


def config_values(exprs: Iterable[Expr], axes: Mapping[str, Axis], bound: Bound) -> tuple[Value, ...]:
    """The values of the symbols in `exprs`; where an axis occurs, of those that make its size."""
    used: dict[str, None] = {}
    for expr in exprs:
        for name in sorted(names(expr)):
            used |= dict.fromkeys(sorted(names(axes[name].size)) if name in axes else [name])
    return tuple(_value(name, bound) for name in used if name in bound.values)


def mesh_values(mesh: Mapping[str, int], bound: Bound) -> tuple[Value, ...]:
    """The size of tp, and of every other mesh dim that has more than one rank."""
    return tuple(Value(over, n, bound.evidence.name) for over, n in mesh.items() if over == "tp" or n > 1)


def _value(name: str, bound: Bound) -> Value:
    """A symbol under its key in config.json, or under its own name where it comes from its `else` formula."""
    source = bound.symbols.sources.get(name, "")
    keys = bound.resolved.symbols[name].keys
    return Value(name if source.startswith("else") else keys[0].rsplit(".", 1)[-1], bound.values[name], source)
