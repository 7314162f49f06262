"""One proof: a subject, a spec and a mesh."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from shardc.checkpoint import read_checkpoint, read_config
from shardc.diagnostics import Diagnostic
from shardc.emit.tree import Tree, differences, tree, write
from shardc.plan.bound import bind
from shardc.plan.collectives import at_work
from shardc.plan.compile import compile_plan
from shardc.plan.evidence import Evidence
from shardc.plan.plan import Plan
from shardc.plan.proof import prove as prove_partition
from shardc.plan.resolved import Resolved
from shardc.prove.compare import Difference, Differing, by_layer, first_differing, worst
from shardc.prove.findings import failed, numbers_differ
from shardc.prove.launch import run_ranks
from shardc.prove.subject import Subject
from shardc.prove.task import Outcome, Task
from shardc.rules import coverage
from shardc.rules.meshes import mesh_findings

Progress = Callable[[str], None]
#: A collective: (pattern of the tensor, what is done, mesh dim).
Done = tuple[str, str, str]


class Proof(Struct, frozen=True):
    """What came of it. `difference` is None where the ranks came to no answer; `findings` say what is wrong."""

    mesh: Mapping[str, int]
    seconds: float
    difference: Difference | None = None
    differing: Differing | None = None
    outcomes: tuple[Outcome, ...] = ()
    findings: list[Diagnostic] = field(default_factory=list)


def prove(subject: Subject, spec: Resolved, mesh: Mapping[str, int], progress: Progress, more: int = 0) -> Proof:
    """Plans, generates, runs the ranks and compares. `mesh` may leave mesh dims out, which then have one rank."""
    begin = time.perf_counter()
    plan, findings = planned(subject, spec, mesh)
    if plan is None or findings:
        return Proof(mesh, time.perf_counter() - begin, findings=findings)
    prove_partition(plan)
    proof = computed(subject, plan, progress, more)
    return replace(proof, seconds=time.perf_counter() - begin)


def planned(subject: Subject, spec: Resolved, mesh: Mapping[str, int]) -> tuple[Plan | None, list[Diagnostic]]:
    """The plan for the subject's file, or what check and verify have against it. `mesh` is as `prove` takes it."""
    checkpoint, findings = read_checkpoint(subject.checkpoint)
    if checkpoint is None:
        return None, findings
    config, findings = read_config(subject.origin)
    if config is None:
        return None, findings
    bound = bind(spec, Evidence(subject.origin.name, config.data, checkpoint.headers, config.source))
    if bound.findings:
        return None, bound.findings
    found = coverage.check(bound, checkpoint.headers).findings
    full_mesh = {**dict.fromkeys(spec.mesh_dims, 1), **mesh}
    compiled = compile_plan(bound, full_mesh)
    return compiled.plan, found or mesh_findings(bound, [(full_mesh, compiled)])


def done(plan: Plan) -> tuple[Done, ...]:
    """What the plan lists for its ranks to do together."""
    return tuple((one.pattern, one.what, one.over) for one in at_work(plan))


def computed(
    subject: Subject,
    plan: Plan,
    progress: Progress,
    more: int = 0,
    package: Tree | None = None,
    collectives: tuple[Done, ...] | None = None,
) -> Proof:
    """The ranks of a plan against the whole model: with the loader of its spec and its collectives, unless given."""
    begin = time.perf_counter()
    spec = plan.bound.resolved
    with tempfile.TemporaryDirectory(prefix="shardc-prove-") as name:
        folder = Path(name)
        package = package or tree([spec])
        write(package, folder / "generated", differences(package, folder / "generated", complete=True))
        task = Task(
            folder=folder,
            package=folder,
            module=spec.spec.name,
            checkpoint=subject.checkpoint,
            config=subject.config,
            mesh=plan.mesh,
            ranks=tuple(plan.ranks()),
            collectives=done(plan) if collectives is None else collectives,
            tokens=tuple(map(tuple, subject.tokens.tolist())),
            more=more,
            watch=bool(subject.seen),
        )
        outcomes = tuple(run_ranks(task, progress))
    seconds = time.perf_counter() - begin
    gone = min((one for one in outcomes if one.error), key=lambda one: one.waited, default=None)
    if gone is not None:
        return Proof(plan.mesh, seconds, outcomes=outcomes, findings=[failed(spec, plan.mesh, gone)])
    difference = worst(outcomes, subject.wanted)
    if difference.small:
        return Proof(plan.mesh, seconds, difference, outcomes=outcomes)
    first = first_differing(outcomes, subject.seen)
    layers = by_layer(outcomes, subject.seen)
    findings = [numbers_differ(spec, plan.mesh, difference, first, layers)]
    return Proof(plan.mesh, seconds, difference, first, outcomes, findings)
