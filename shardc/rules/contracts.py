"""Kernels' contracts on local sizes (SHD301)."""

from __future__ import annotations

from collections.abc import Mapping

from shardc.diagnostics import Diagnostic, Label, Value
from shardc.layout.expr import names
from shardc.layout.show import show
from shardc.plan.bound import Bound
from shardc.plan.compile import ContractFault
from shardc.rules.sizes import valid_sizes


def message(fault: ContractFault, mesh: Mapping[str, int]) -> str:
    """The same words as a generated module raises when it loads."""
    sizes = ", ".join(f"{name} = {value}" for name, value in fault.values.items())
    where = f"on tp rank {fault.rank.get('tp', 0)} of {mesh.get('tp', 1)}"
    return f"{fault.contract.use} needs {show(fault.contract.require)}: {sizes} {where}"


def finding(fault: ContractFault, bound: Bound, mesh: Mapping[str, int]) -> Diagnostic:
    contract, document = fault.contract, bound.resolved.document
    formulas = ", ".join(f"{name} = {show(expr)}" for name, expr in contract.written.items())
    used = sorted(set().union(*(names(expr) for expr in contract.given.values())))
    values = [Value(n, bound.values[n], bound.symbols.sources.get(n, "")) for n in used if n in bound.values]
    for n in used:
        if n in bound.resolved.axes:
            for symbol in sorted(names(bound.resolved.axes[n].size) & bound.values.keys()):
                values.append(Value(symbol, bound.values[symbol], bound.symbols.sources.get(symbol, "")))
    return Diagnostic(
        "SHD301",
        message(fault, mesh),
        Label(document.value(*contract.path), formulas),
        values=(*values, *(Value(over, n, bound.evidence.name) for over, n in mesh.items())),
        valid={"tp": valid_sizes(bound, mesh, "tp")},
        notes=(f"why: {contract.why}",),
        help=contract.help,
    )
