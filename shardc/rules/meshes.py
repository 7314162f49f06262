"""What stands in the way of a spec on the meshes of one target: axes, cuts inside units, outputs, contracts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from shardc.diagnostics import Diagnostic
from shardc.plan.bound import Bound
from shardc.plan.compile import Compiled, ContractFault, CutFault
from shardc.rules import axes, contracts, cuts, outputs

Mesh = Mapping[str, int]


def mesh_findings(bound: Bound, results: list[tuple[Mesh, Compiled]]) -> list[Diagnostic]:
    """The faults of one target over its meshes; what fails for one cause on several sizes is one finding."""
    by_cut: dict[tuple[object, ...], list[tuple[list[CutFault], Mesh]]] = {}
    by_contract: dict[tuple[object, ...], list[tuple[ContractFault, Mesh]]] = {}
    for mesh, result in results:
        if result.cuts:
            key = tuple(sorted({(c.family.entry.path, c.error.code) for c in result.cuts}, key=str))
            by_cut.setdefault(key, []).append((result.cuts, mesh))
        for broken in result.contracts:
            by_contract.setdefault(broken.contract.path, []).append((broken, mesh))
    faults = ((fault, mesh) for mesh, result in results for fault in result.axes)
    out = [axes.finding(cause, bound) for cause in axes.collect(faults)]
    for (first_cuts, mesh), *more_cuts in by_cut.values():
        out += cuts.findings(first_cuts, bound, mesh, _also(mesh, (m for _, m in more_cuts)))
    out += outputs.findings(((fault, mesh) for mesh, result in results for fault in result.outputs), bound)
    for (broken, mesh), *more in by_contract.values():
        out.append(contracts.finding(broken, bound, mesh, _also(mesh, (m for _, m in more))))
    return out


def _also(mesh: Mesh, others: Iterable[Mesh]) -> tuple[int, ...]:
    """Further sizes of tp at which the same fails."""
    sizes = dict.fromkeys(other.get("tp", 1) for other in others)
    return tuple(size for size in sizes if size != mesh.get("tp", 1))
