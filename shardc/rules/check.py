"""Everything there is to say about a spec: its text, its names, its kinds, and each target on each mesh."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePath

from msgspec import Struct, field

from shardc.diagnostics import Diagnostic, Label
from shardc.diagnostics.findings import in_order
from shardc.plan.bound import Bound, bind
from shardc.plan.compile import Compiled, compile_plan
from shardc.plan.evidence import Evidence
from shardc.plan.proof import prove
from shardc.plan.resolve import resolve
from shardc.plan.resolved import Resolved
from shardc.rules import biases, claims, coverage, double_entry, outputs, stages, summed_biases, unused
from shardc.rules.meshes import mesh_findings
from shardc.rules.targets import TargetFindings, by_target
from shardc.source import Document
from shardc.spec.read import read_spec
from shardc.spec.target import Target

#: Finds a recorded checkpoint by its name in a target; None with the findings that say why not.
FindEvidence = Callable[[str], tuple[Evidence | None, list[Diagnostic]]]

#: Sizes of tp that are tried, claimed or not.
HINTED = (1, 2, 4, 8, 16, 32, 64)


class Claim(Struct, frozen=True):
    """A target, the spec bound to its checkpoint, and its plan on every mesh that is claimed."""

    target: Target
    bound: Bound
    compiled: tuple[Compiled, ...]


class Checked(Struct):
    """One spec's findings. `resolved` is None where its text can't be read; `plans` counts those that were compiled.

    `recorded` are its targets' checkpoints; `claims` are the targets to whose checkpoint the spec can be bound.
    """

    document: Document
    resolved: Resolved | None = None
    findings: list[Diagnostic] = field(default_factory=list)
    plans: int = 0
    recorded: list[Evidence] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)


def check_spec(document: Document, find: FindEvidence) -> Checked:
    """Check a spec and every target that it claims; plans that compile are proved."""
    out = Checked(document)
    spec, out.findings = read_spec(document)
    if spec is not None:
        out.resolved, findings = resolve(spec, document)
        out.findings += findings
        if not findings:
            out.findings += double_entry.check(out.resolved)
            out.findings += stages.check(out.resolved)
            out.findings += summed_biases.check(out.resolved)
            out.findings += unused.check(out.resolved)
            for i, target in enumerate(spec.targets):
                out.findings += _unknown_mesh_dims(target, i, out.resolved)
            out.findings += by_target([_check_target(out, i, target, find) for i, target in enumerate(spec.targets)])
            out.findings += unused.unused_ignores(out.resolved, out.recorded)
    out.findings = in_order(out.findings)
    return out


def _check_target(out: Checked, i: int, target: Target, find: FindEvidence) -> TargetFindings:
    """The findings of one target, complete. Adds its plans to `out`."""
    assert out.resolved is not None
    evidence, findings = find(target.checkpoint)
    if evidence is None:
        return TargetFindings(target.checkpoint, findings or [_no_checkpoint(out.document, i, target)])
    out.recorded.append(evidence)
    bound = bind(out.resolved, evidence)
    if bound.findings:
        return TargetFindings(evidence.name, bound.findings)
    results = [(mesh, compile_plan(bound, mesh)) for mesh in claimed_meshes(target, out.resolved)]
    out.claims.append(Claim(target, bound, tuple(compiled for _, compiled in results)))
    out.plans += len(results)
    for _, result in results:
        if result.ok and result.plan is not None:
            prove(result.plan)
    findings = [*claims.check(bound), *biases.check(bound), *outputs.check(bound), *mesh_findings(bound, results)]
    if evidence.headers is not None:
        findings += coverage.check(bound, evidence.headers).findings
    findings += _not_claimed(bound, target, i, out.document)
    return TargetFindings(evidence.name, findings)


def _no_checkpoint(document: Document, i: int, target: Target) -> Diagnostic:
    file = PurePath(document.file).parent / "checkpoints" / f"{target.checkpoint}.json"
    return Diagnostic(
        "SHD113",
        f"there is no recorded checkpoint {target.checkpoint}",
        Label(document.value("targets", i, "checkpoint")),
        help=f"record its config and tensor table in {file.as_posix()}, or correct the name",
    )


def claimed_meshes(target: Target, resolved: Resolved) -> Iterator[Mapping[str, int]]:
    """Every mesh of a target; mesh dims that it does not speak of have one rank."""
    dims = resolved.mesh_dims
    for sizes in itertools.product(*(target.sizes.get(dim, [1]) for dim in dims)):
        yield dict(zip(dims, sizes, strict=True))


def _unknown_mesh_dims(target: Target, i: int, resolved: Resolved) -> Iterator[Diagnostic]:
    """Sizes of mesh dims that split nothing: more than one rank of them is not served by this spec."""
    for over, sizes in target.sizes.items():
        path = ("targets", i, "mesh", over) if over in target.mesh else ("targets", i, over)
        finding = stages.unknown_mesh_dim(over, Label(resolved.document.key(*path)), resolved)
        if finding is not None and (over in target.mesh or sizes != [1]):
            yield finding


def _not_claimed(bound: Bound, target: Target, i: int, document: Document) -> Iterator[Diagnostic]:
    """A power of two that would work and is not claimed: worth a word, no more."""
    if "tp" not in bound.resolved.splitting:
        return
    others = dict.fromkeys(bound.resolved.mesh_dims, 1)
    valid = [n for n in HINTED if n not in target.tp and compile_plan(bound, {**others, "tp": n}).ok]
    if valid:
        label = Label(document.value("targets", i, "tp"))
        message = f"{target.checkpoint} also loads at tp = {', '.join(map(str, valid))}"
        yield Diagnostic("SHD220", message, label, help="claim the size, if it is meant to work", severity="hint")
