"""The axes that a spec or a group declares."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from shardc.diagnostics import Diagnostic, Label
from shardc.layout.split import Dealing
from shardc.plan.formulas import Formulas
from shardc.plan.resolved import Axis
from shardc.source import Path_
from shardc.spec.axis import Axis as AxisField


def read_axes(
    fields: Mapping[str, AxisField], path: Path_, numbers: set[str], outer: Mapping[str, Axis], formulas: Formulas
) -> dict[str, Axis]:
    """The axes of a spec or a group; parents come before their children."""
    axes: dict[str, Axis] = {}
    for name, axis in fields.items():
        size = formulas.read(axis.size, (*path, name, "size"))
        formulas.check_names(size, (*path, name, "size"), numbers, "config symbols and indices")
        how = Dealing(
            granule=axis.granule,
            if_uneven=axis.if_uneven,
            if_fewer=axis.if_fewer,
            replicas=axis.replicas,
            pad_to=axis.pad_to,
            pad_local_to=axis.pad_local_to,
            placement=axis.placement,
        )
        axes[name] = Axis(name, size, axis.over, axis.within, how, axis.role or _role(name), (*path, name))
    known = {**outer, **axes}
    ordered: dict[str, Axis] = {}
    while len(ordered) < len(axes):
        ready = [a for a in axes.values() if a.name not in ordered and (a.within in ordered or a.within not in axes)]
        if not ready:
            ring = sorted(axes.keys() - ordered.keys())
            label = Label(formulas.document.value(*path, ring[0]))
            message = f"`within` goes in a circle: {', '.join(ring)}"
            help = "one of them has no parent: take its `within:` out"
            formulas.findings.append(Diagnostic("SHD107", message, label, help=help))
            return {**ordered, **{name: replace(axes[name], within=None) for name in ring}}
        for declared in ready:
            ordered[declared.name] = _beside_parent(declared, {**known, **ordered}, formulas)
    return ordered


def _beside_parent(axis: Axis, known: Mapping[str, Axis], formulas: Formulas) -> Axis:
    if axis.within is None:
        return axis
    parent = known.get(axis.within)
    if parent is None:
        label = Label(formulas.document.value(*axis.path, "within"))
        choices = ", ".join(sorted(known.keys() - {axis.name})) or "none"
        formulas.findings.append(Diagnostic("SHD103", f"unknown axis `{axis.within}`", label, help=f"axes: {choices}"))
        return replace(axis, within=None)
    return replace(axis, over=parent.over)


def _role(name: str) -> str:
    if name.startswith("vocab"):
        return "vocab"
    last = name.rsplit("_", 1)[-1]
    return {"heads": "heads", "groups": "heads", "experts": "experts", "layers": "layers"}.get(last, "plain")
