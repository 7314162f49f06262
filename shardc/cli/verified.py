"""One checkpoint compared with its spec."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from shardc.checkpoint import Checkpoint, read_checkpoint
from shardc.cli.spec_folder import SpecFolder
from shardc.cli.specs import evidence_of
from shardc.diagnostics import Diagnostic
from shardc.diagnostics.findings import Counts, counts
from shardc.plan.bound import bind
from shardc.plan.resolved import Resolved
from shardc.rules import claims, coverage, outputs
from shardc.rules.sizes import valid_sizes


class Verified(Struct):
    """What came of one checkpoint: its path and name, the spec's file, and what was counted, None where unknown.

    `valid_tp` are the sizes of tp up to 64 that work with one rank on every other mesh dim. `chosen` says why this
    spec, where several name its architecture. `compared` is whether names and shapes were compared at all.
    """

    path: str
    name: str
    spec: str | None = None
    tensors: int | None = None
    bytes: int | None = None
    claimed: int = 0
    ignored: int = 0
    valid_tp: tuple[int, ...] | None = None
    chosen: str = ""
    compared: bool = False
    findings: list[Diagnostic] = field(default_factory=list)

    @property
    def counts(self) -> Counts:
        return counts(self.findings)


def verify(path: Path, spec: Resolved | None, folder: SpecFolder, *, sizes: bool) -> Verified:
    """Compares a checkpoint with `spec`, or with the spec of `folder` that names its architecture.

    Of several that do, a spec whose targets have the checkpoint's name goes first, then the one with the fewest errors.
    `sizes`: find the valid sizes of tp as well.
    """
    checkpoint, findings = read_checkpoint(path)
    if checkpoint is None:
        return Verified(str(path), path.name, findings=findings)
    known = Verified(
        checkpoint.path, checkpoint.name, tensors=len(checkpoint.headers), bytes=checkpoint.bytes, findings=findings
    )
    if spec is not None:
        return _compared(checkpoint, spec, known, sizes)
    answering = folder.answering(checkpoint.architectures)
    specs = [resolved for resolved, _ in answering if resolved is not None]
    if not specs:
        faults = [finding for _, faults in answering for finding in faults]
        known.findings += faults or [_no_spec(checkpoint, folder)]
        return known
    if len(specs) == 1:
        return _compared(checkpoint, specs[0], known, sizes)
    return _best(checkpoint, specs, known, sizes)


def _compared(checkpoint: Checkpoint, spec: Resolved, known: Verified, sizes: bool) -> Verified:
    """`known`, with what the comparison with a spec adds."""
    out = replace(known, spec=spec.document.file, findings=list(known.findings))
    bound = bind(spec, evidence_of(checkpoint, checkpoint.path))
    out.findings += bound.findings
    if not bound.findings:
        covered = coverage.check(bound, checkpoint.headers)
        out.findings += [*claims.check(bound), *outputs.check(bound), *covered.findings]
        out.claimed, out.ignored, out.compared = covered.claimed, covered.ignored, True
        if sizes and covered.claimed and "tp" in spec.mesh_dims:
            out.valid_tp = valid_sizes(bound, dict.fromkeys(spec.mesh_dims, 1), "tp")
    return out


def _best(checkpoint: Checkpoint, specs: list[Resolved], known: Verified, sizes: bool) -> Verified:
    recorded = [spec for spec in specs if any(one.checkpoint == checkpoint.name for one in spec.spec.targets)]
    tried = [_compared(checkpoint, spec, known, sizes) for spec in recorded or specs]
    best = min(tried, key=lambda one: (not one.compared, one.counts.errors))
    why = "its targets name this checkpoint" if recorded else "it has the fewest errors"
    others = ", ".join(spec.document.file for spec in specs if spec.document.file != best.spec)
    best.chosen = f"{best.spec} was taken: {why}; {others} would answer too"
    return best


def _no_spec(checkpoint: Checkpoint, folder: SpecFolder) -> Diagnostic:
    named = ", ".join(checkpoint.architectures) or "none"
    message = f"no spec in {folder.folder} for the architectures of {checkpoint.config.path}: {named}"
    others = ", ".join(folder.architectures()) or "none"
    help = f"name the spec: `shardc verify SPEC {checkpoint.path}`; there are specs for {others}"
    return Diagnostic("SHD409", message, help=help, about=checkpoint.config.path)
