"""What stands in the way of a spec on the meshes of one target: axes, cuts inside units, outputs, contracts."""

from __future__ import annotations

from collections.abc import Mapping

from shardc.diagnostics import Diagnostic
from shardc.plan.bound import Bound
from shardc.plan.compile import Compiled, ContractFault, CutFault, TieFault
from shardc.rules import axes, contracts, cuts, outputs, tied
from shardc.rules.sizes import Also

Mesh = Mapping[str, int]


def mesh_findings(bound: Bound, results: list[tuple[Mesh, Compiled]]) -> list[Diagnostic]:
    """The faults of one target over its meshes; what fails for one cause on several sizes is one finding."""
    by_cut: dict[tuple[object, ...], list[tuple[list[CutFault], Mesh]]] = {}
    by_contract: dict[tuple[object, ...], list[tuple[ContractFault, Mesh]]] = {}
    by_tie: dict[tuple[object, ...], list[tuple[TieFault, Mesh]]] = {}
    for mesh, result in results:
        if result.cuts:
            key = tuple(sorted({(c.family.entry.path, c.error.code) for c in result.cuts}, key=str))
            by_cut.setdefault(key, []).append((result.cuts, mesh))
        for tie in result.ties:
            by_tie.setdefault((tie.entry.path, tie.over), []).append((tie, mesh))
        for broken in result.contracts:
            by_contract.setdefault(broken.contract.path, []).append((broken, mesh))
    faults = ((fault, mesh) for mesh, result in results for fault in result.axes)
    out = [axes.finding(cause, bound) for cause in axes.collect(faults)]
    for (first_cuts, mesh), *more_cuts in by_cut.values():
        out += cuts.findings(first_cuts, bound, mesh, _also(mesh, [m for _, m in more_cuts], first_cuts[0].over))
    out += outputs.findings(((fault, mesh) for mesh, result in results for fault in result.outputs), bound)
    for (broken, mesh), *more in by_contract.values():
        also = _also(mesh, [m for _, m in more], broken.contract.over)
        out.append(contracts.finding(broken, bound, mesh, also))
    for (tie, mesh), *more_ties in by_tie.values():
        out.append(tied.apart(tie, bound, mesh, _also(mesh, [m for _, m in more_ties], (tie.over,))))
    return out


def _also(mesh: Mesh, others: list[Mesh], over: tuple[str, ...]) -> Also:
    """Further sizes of each mesh dim of `over` at which the same fails."""
    sizes = {dim: dict.fromkeys(other.get(dim, 1) for other in others) for dim in over}
    return {dim: tuple(size for size in found if size != mesh.get(dim, 1)) for dim, found in sizes.items()}
