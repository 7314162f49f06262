"""What `only` keeps to the ends of a mesh dim: one that is there (SHD103) and does not split the tensor (SHD205)."""

from __future__ import annotations

from collections.abc import Iterator

from shardc.diagnostics import Diagnostic, Label
from shardc.plan.kinds import axes_in
from shardc.plan.resolved import Entry, Resolved
from shardc.source import Path_


def check(resolved: Resolved) -> Iterator[Diagnostic]:
    """One finding for each mesh dim of each `only`, however many tensors it stands for."""
    findings: dict[tuple[Path_, str], Diagnostic] = {}
    for entry in resolved.entries:
        for over in entry.on:
            place = (_place(entry, resolved), over)
            found = _unknown(over, place[0], resolved) or _split(entry, over, place[0], resolved)
            if found is not None:
                findings.setdefault(place, found)
    yield from findings.values()


def unknown_mesh_dim(over: str, label: Label, resolved: Resolved) -> Diagnostic | None:
    """SHD103 for a mesh dim that no axis is over."""
    if over in resolved.mesh_dims:
        return None
    help = f"mesh dims of this spec: {', '.join(resolved.mesh_dims)}; correct it, or let an axis be `over: {over}`"
    return Diagnostic("SHD103", f"no axis is over `{over}`", label, help=help)


def _place(entry: Entry, resolved: Resolved) -> Path_:
    own = (*entry.path, "only")
    return own if own in resolved.document.values else ("groups", entry.group, "only")


def _unknown(over: str, path: Path_, resolved: Resolved) -> Diagnostic | None:
    return unknown_mesh_dim(over, Label(resolved.document.key(*path, over)), resolved)


def _split(entry: Entry, over: str, path: Path_, resolved: Resolved) -> Diagnostic | None:
    axes = resolved.axes_of(entry)
    parts = [f"its names ({loop.axis})" for loop in entry.loops if loop.axis and axes[loop.axis].over == over]
    for i, dim in enumerate(entry.dims):
        parts += [f"its dim {i} ({axis})" for axis in axes_in(dim, axes) if axes[axis].over == over]
    summed = resolved.summed.get(entry.pattern)
    if entry.rank0_dim is not None and over == (axes[summed].over if summed else "tp"):
        parts.append("it (rank0)")
    if not parts:
        return None
    message = (
        f"{over} splits {parts[0]}, and `only` keeps {entry.path[-1]} to the {' and the '.join(entry.on[over])} rank"
    )
    help = f"the other ranks' parts would be nowhere: take {over} out of `only:`, or let it not split this tensor"
    return Diagnostic("SHD205", message, Label(resolved.document.key(*path, over)), help=help)
