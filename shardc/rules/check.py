"""Everything there is to say about a spec: its text, its names, its kinds, and each target on each mesh."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from shardc.diagnostics import Diagnostic, Label
from shardc.plan.bound import Bound, bind
from shardc.plan.compile import AxisFault, Compiled, ContractFault, CutFault, compile_plan
from shardc.plan.evidence import Evidence
from shardc.plan.proof import prove
from shardc.plan.resolve import resolve
from shardc.plan.resolved import Resolved
from shardc.rules import axes, claims, contracts, coverage, cuts, double_entry, unused
from shardc.source import Document
from shardc.spec.model import Target
from shardc.spec.read import read_spec

#: Finds a recorded checkpoint by its name in a target; None with the findings that say why not.
FindEvidence = Callable[[str], tuple[Evidence | None, list[Diagnostic]]]

_HINTED = (1, 2, 4, 8, 16, 32, 64)


@dataclass
class Checked:
    """One spec's findings. `resolved` is None where its text can't be read; `plans` counts those that were compiled."""

    document: Document
    resolved: Resolved | None = None
    findings: list[Diagnostic] = field(default_factory=list)
    plans: int = 0

    @property
    def ok(self) -> bool:
        return self.resolved is not None and not any(f.severity == "error" for f in self.findings)


def check_spec(document: Document, find: FindEvidence) -> Checked:
    """Check a spec and every target that it claims; plans that compile are proved."""
    out = Checked(document)
    spec, out.findings = read_spec(document)
    if spec is None:
        return out
    out.resolved, findings = resolve(spec, document)
    out.findings += findings
    if findings:
        return out
    out.findings += double_entry.check(out.resolved)
    out.findings += unused.check(out.resolved)
    for i, target in enumerate(spec.targets):
        _check_target(out, i, target, find)
    return out


def _check_target(out: Checked, i: int, target: Target, find: FindEvidence) -> None:
    assert out.resolved is not None
    evidence, findings = find(target.checkpoint)
    if evidence is None:
        label = Label(out.document.value("targets", i, "checkpoint"))
        missing = f"the recorded checkpoint {target.checkpoint} can't be read"
        out.findings += findings or [Diagnostic("SHD113", missing, label)]
        return
    bound = bind(out.resolved, evidence)
    out.findings += bound.findings
    if bound.findings:
        return
    out.findings += claims.check(bound)
    if evidence.headers is not None:
        out.findings += coverage.check(bound, evidence.headers).findings
    meshes = list(claimed_meshes(target, out.resolved))
    results = [(mesh, compile_plan(bound, mesh)) for mesh in meshes]
    out.plans += len(results)
    for _, result in results:
        if result.ok and result.plan is not None:
            prove(result.plan)
    out.findings += mesh_findings(bound, results)
    out.findings += _not_claimed(bound, target, i, out.document)


def claimed_meshes(target: Target, resolved: Resolved) -> Iterator[Mapping[str, int]]:
    """Every mesh of a target; mesh dims that it does not speak of have one rank."""
    claimed = {"tp": target.tp, "ep": target.ep}
    dims = resolved.mesh_dims
    for sizes in itertools.product(*(claimed.get(dim, [1]) for dim in dims)):
        yield dict(zip(dims, sizes, strict=True))


def mesh_findings(bound: Bound, results: list[tuple[Mapping[str, int], Compiled]]) -> list[Diagnostic]:
    """The faults of one target over its meshes; what fails for one cause on several sizes is one finding."""
    out: list[Diagnostic] = []
    by_axis: dict[tuple[object, ...], list[tuple[AxisFault, Mapping[str, int]]]] = {}
    by_cut: dict[tuple[object, ...], tuple[list[CutFault], Mapping[str, int]]] = {}
    by_contract: dict[tuple[object, ...], tuple[ContractFault, Mapping[str, int]]] = {}
    for mesh, result in results:
        for fault in result.axes:
            by_axis.setdefault((fault.axis.path, tuple(fault.env.items())), []).append((fault, mesh))
        if result.cuts:
            key = tuple(sorted({(c.family.entry.path, c.error.code) for c in result.cuts}, key=str))
            by_cut.setdefault(key, (result.cuts, mesh))
        for broken in result.contracts:
            by_contract.setdefault(broken.contract.path, (broken, mesh))
    for faults in by_axis.values():
        first, mesh = faults[0]
        over = first.axis.over
        also = dict.fromkeys(m.get(over, 1) for _, m in faults if m.get(over, 1) != mesh.get(over, 1))
        out.append(axes.finding(first, bound, mesh, tuple(also)))
    for cut_faults, mesh in by_cut.values():
        out += cuts.findings(cut_faults, bound, mesh)
    out += [contracts.finding(fault, bound, mesh) for fault, mesh in by_contract.values()]
    return out


def _not_claimed(bound: Bound, target: Target, i: int, document: Document) -> Iterator[Diagnostic]:
    """A power of two that would work and is not claimed: worth a word, no more."""
    others = dict.fromkeys(bound.resolved.mesh_dims, 1)
    valid = [n for n in _HINTED if n not in target.tp and compile_plan(bound, {**others, "tp": n}).ok]
    if valid:
        label = Label(document.value("targets", i, "tp"))
        message = f"{target.checkpoint} also loads at tp = {', '.join(map(str, valid))}"
        yield Diagnostic("SHD220", message, label, help="claim the size, if it is meant to work", severity="hint")
