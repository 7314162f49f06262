"""What finds a planted fault: `shardc check`, by the codes of its findings, the partition proof, and the numbers.

Each is asked by itself: that one has complained keeps no other from being asked.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from scripts.planted import ROOT, Fault
from shardc.checkpoint import read_checkpoint
from shardc.cli.specs import recorded
from shardc.diagnostics import Diagnostic, ShardcBug
from shardc.emit.tree import tree
from shardc.layout.units import CutError
from shardc.plan.bound import bind
from shardc.plan.compile import Compiled, compile_plan
from shardc.plan.evidence import Evidence, Header
from shardc.plan.proof import prove
from shardc.plan.resolve import resolve
from shardc.plan.resolved import Resolved
from shardc.plan.stored_dims import stored_dims
from shardc.prove.proof import Proof, computed, done
from shardc.prove.subject import Subject, made_up
from shardc.rules import biases, claims, coverage
from shardc.rules.check import check_spec
from shardc.rules.meshes import mesh_findings
from shardc.source import Document, loads
from shardc.spec.read import read_spec

#: Detectors in the order in which an author meets them, and how their codes begin.
DETECTORS: Mapping[str, tuple[str, ...]] = {
    "text": ("SHD0", "SHD1"),
    "double entry": ("SHD207", "SHD208", "SHD210"),
    "split": ("SHD2",),
    "contract": ("SHD3",),
    "verify": ("SHD4",),
    "partition proof": ("SHD9",),
    "numbers": ("SHD7",),
}


def detector(code: str) -> str:
    """Which of the detectors gives a code."""
    return next(name for name, begins in DETECTORS.items() if code.startswith(begins))


@dataclass(frozen=True)
class Numbers:
    """What the ranks came to.

    code: of the finding, if any. relative: the largest difference, relative to the largest logit. stopped: why there is
    no answer, and where. Without both, no plan could be made, and there was nothing to run.
    """

    code: str = ""
    relative: float | None = None
    stopped: str | None = None

    @property
    def shown(self) -> str:
        """A cell of the page."""
        if self.relative is not None:
            return "another shape" if self.relative == float("inf") else f"{self.relative:.2g}"
        if self.stopped is None:
            return "no plan"
        return "not loaded" if "ShardError" in self.stopped else "stops"


def said(fault: Fault) -> set[str]:
    """The codes of all errors and warnings of `shardc check` and `shardc verify`, and that of the partition proof.

    They are asked of the spec's own targets, and of the fault's small config on its mesh. The headers of the small
    checkpoint are those that the spec without the fault expects, which is what the reference's checkpoint has; where
    only a file could tell them (gpt-oss in BF16), the spec's own targets have to do.
    """
    document = _document(fault)
    found: set[str] = set()
    try:
        found |= _codes(check_spec(document, recorded(ROOT / "specs" / "checkpoints")).findings)
    except ShardcBug as bug:
        found.add(str(bug)[:6])
    spec = _resolved(document)
    headers = _headers(fault.clean)
    if spec is not None and headers is not None:
        found |= _codes(_of_small(fault, spec, headers))
        found |= _proof(fault, spec, headers)
    return found


def computes(fault: Fault) -> Numbers:
    """What the ranks compute, whatever else is said of the spec, if a plan can be made."""
    subject = _subject(fault)
    spec = _resolved(_document(fault))
    checkpoint, _ = read_checkpoint(subject.checkpoint)
    if spec is None or checkpoint is None:
        return Numbers()
    mesh = {**dict.fromkeys(spec.mesh_dims, 1), **fault.mesh}
    bound = bind(spec, Evidence("small", checkpoint.config.data, checkpoint.headers))
    compiled = Compiled(None) if bound.findings else compile_plan(bound, mesh)
    if compiled.plan is None:
        return Numbers()
    package = fault.package(tree([spec]))
    return _numbers(
        computed(
            subject, compiled.plan, lambda _: None, package=package, collectives=fault.collectives(done(compiled.plan))
        )
    )


def _numbers(proof: Proof) -> Numbers:
    code = next((finding.code for finding in proof.findings), "")
    if proof.difference is not None:
        return Numbers(code, relative=proof.difference.relative)
    gone = next(one for one in proof.outcomes if one.error)
    return Numbers(code, stopped=f"{gone.module}: {gone.error}")


def _document(fault: Fault) -> Document:
    document, findings = loads(fault.spec_text(), f"specs/{fault.of}.yaml")
    if document is None:
        raise ValueError(f"{fault.name} is no YAML: {findings[0].message}")
    return document


def _resolved(document: Document) -> Resolved | None:
    """The spec, whatever its kinds say."""
    spec, _ = read_spec(document)
    resolved, findings = resolve(spec, document) if spec is not None else (None, [])
    return None if findings else resolved


def _headers(clean: Fault) -> Mapping[str, Header] | None:
    """The headers that a spec without a fault expects of a file of the small config; None where it cannot be without
    one.
    """
    spec = _resolved(_document(clean))
    assert spec is not None, clean.name
    bound = bind(spec, Evidence(clean.config, clean.small_config()))
    try:
        return {
            name: (part.dtype, tuple(dim.size for dim in stored_dims(family, part)))
            for family in bound.families
            for part in family.stored.parts
            for name in part.names
        }
    except CutError:
        return None


def _of_small(fault: Fault, spec: Resolved, headers: Mapping[str, Header]) -> Iterable[Diagnostic]:
    bound = bind(spec, Evidence("small", fault.small_config(), headers))
    if bound.findings:
        return bound.findings
    mesh = {**dict.fromkeys(spec.mesh_dims, 1), **fault.mesh}
    findings = [*claims.check(bound), *biases.check(bound), *coverage.check(bound, headers).findings]
    return findings + mesh_findings(bound, [(mesh, compile_plan(bound, mesh))])


def _proof(fault: Fault, spec: Resolved, headers: Mapping[str, Header]) -> set[str]:
    """Whether the partition proof objects to the plan with the fault."""
    bound = bind(spec, Evidence("small", fault.small_config(), headers))
    mesh = {**dict.fromkeys(spec.mesh_dims, 1), **fault.mesh}
    compiled = Compiled(None) if bound.findings else compile_plan(bound, mesh)
    if compiled.plan is None or not compiled.ok:
        return set()
    try:
        prove(fault.dealt(compiled.plan))
    except ShardcBug as bug:
        return {str(bug)[:6]}
    return set()


def _codes(findings: Iterable[Diagnostic]) -> set[str]:
    """Errors, and warnings that are of a cut: a name that nothing uses any more is none."""
    return {
        one.code for one in findings if one.severity == "error" or (one.severity, one.code[:4]) == ("warning", "SHD2")
    }


_SUBJECTS: dict[str, tuple[Subject, TemporaryDirectory[str]]] = {}


def _subject(fault: Fault) -> Subject:
    """The reference of the fault's config; faults with the same config share it."""
    text = json.dumps(fault.small_config())
    key = f"{fault.of} {text}"
    if key not in _SUBJECTS:
        clean = _resolved(_document(fault.clean))
        assert clean is not None
        home = TemporaryDirectory(prefix="shardc-faults-")
        config, checkpoint = Path(home.name) / "small.json", Path(home.name) / "checkpoint"
        config.write_text(text, encoding="utf-8")
        checkpoint.mkdir()
        _SUBJECTS[key] = made_up(config, clean, checkpoint), home
    return _SUBJECTS[key][0]
