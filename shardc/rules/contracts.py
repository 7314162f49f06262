"""Kernels' contracts on local sizes (SHD301)."""

from __future__ import annotations

from collections.abc import Mapping

from shardc.diagnostics import Diagnostic, Label
from shardc.layout.show import show
from shardc.plan.bound import Bound
from shardc.plan.compile import ContractFault
from shardc.plan.family import Family
from shardc.rules.axis_users import mentioned
from shardc.rules.lines import line_of
from shardc.rules.sizes import Also, also_at_each, valid_sizes
from shardc.rules.values import config_values, mesh_values


def message(fault: ContractFault, mesh: Mapping[str, int]) -> str:
    """The same words as a generated module raises when it loads."""
    if fault.error is not None:
        return f"{fault.contract.use}: {fault.error.message}"
    sizes = ", ".join(f"{name} = {value}" for name, value in fault.values.items())
    where = ", ".join(f"{dim} rank {at} of {mesh.get(dim, 1)}" for dim, at in fault.rank.items())
    return f"{fault.contract.use} needs {show(fault.contract.require)}: {sizes} on {where}"


def finding(fault: ContractFault, bound: Bound, mesh: Mapping[str, int], also: Also) -> Diagnostic:
    """`also` are further sizes at which the contract does not hold."""
    contract, document = fault.contract, bound.resolved.document
    cut = _cut_with_it(fault, bound)
    formulas = ", ".join(f"{name} = {show(expr)}" for name, expr in contract.written.items())
    return Diagnostic(
        fault.error.code if fault.error else "SHD301",
        message(fault, mesh),
        Label(document.value(*contract.path), formulas),
        values=config_values(contract.given.values(), bound.resolved.axes, bound) + mesh_values(mesh, bound),
        valid={over: valid_sizes(bound, mesh, over) for over in contract.over},
        notes=(f"why: {contract.why}", *also_at_each(also)),
        help=fault.error.help if fault.error else contract.help,
        same_cause=tuple(f"{family.names[0]} (line {line_of(family.entry, document)})" for family in cut),
    )


def _cut_with_it(fault: ContractFault, bound: Bound) -> list[Family]:
    """One family of each entry that an axis of the contract splits."""
    axes = fault.contract.names & bound.resolved.axes.keys()
    found: dict[tuple[str | int, ...], Family] = {}
    for family in bound.families:
        if axes & mentioned(family, bound):
            found.setdefault(family.entry.path, family)
    return list(found.values())
