"""What a proof finds, as findings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from shardc.diagnostics import Diagnostic
from shardc.plan.resolved import Resolved
from shardc.prove.compare import TOLERANCE, Difference, Differing
from shardc.prove.task import Outcome

_HELP = "compare the spec's entry for this module with the model's code; `shardc plan --tensor` shows each rank's rows"

_SHOWN = 6


def numbers_differ(
    spec: Resolved,
    mesh: Mapping[str, int],
    difference: Difference,
    first: Differing | None,
    layers: Sequence[Differing],
) -> Diagnostic:
    """SHD701: the ranks' answer is not the whole model's."""
    message = (
        f"{spec.document.file} at {shown(mesh)}: the ranks do not compute what the whole model does: "
        f"{difference} (allowed {TOLERANCE:g})"
    )
    notes: tuple[str, ...] = ()
    if first is not None:
        notes = (f"the first module that differs is {first.module}, on rank {first.rank}: {first.difference}",)
        if first.own_parts:
            notes += (f"not compared before it, as each rank has its own part: {_list(first.own_parts)}",)
    notes += tuple(f"{one.module}: {one.difference}" for one in layers[:_SHOWN])
    return Diagnostic("SHD701", message, notes=notes, help=_HELP, about=spec.document.file)


def failed(spec: Resolved, mesh: Mapping[str, int], outcome: Outcome) -> Diagnostic:
    """SHD702: a rank's model could not be made of its tensors, or could not run."""
    where = f" in {outcome.module}" if outcome.module else ""
    message = f"{spec.document.file} at {shown(mesh)}: rank {outcome.rank} failed{where}"
    notes = tuple(outcome.error.splitlines()[:8])
    return Diagnostic("SHD702", message, notes=notes, help=_HELP, about=spec.document.file)


def _list(modules: tuple[str, ...]) -> str:
    """The last few of them."""
    rest = len(modules) - _SHOWN
    return (f"{rest} more, " if rest > 0 else "") + ", ".join(modules[-_SHOWN:])


def shown(mesh: Mapping[str, int]) -> str:
    """`tp=2 ep=2`; mesh dims of one rank are left out."""
    return " ".join(f"{dim}={size}" for dim, size in mesh.items() if size > 1) or "one rank"
