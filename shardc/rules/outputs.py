"""Outputs that cannot be built: tensors in several dtypes (SHD420), some absent (SHD401), or rows that do not fit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from shardc.diagnostics import Diagnostic, Label
from shardc.plan.bound import Bound
from shardc.plan.built import BuildFault
from shardc.plan.compile import OutputFault
from shardc.plan.resolved import Output
from shardc.rules.sizes import also_at, valid_sizes
from shardc.rules.values import mesh_values
from shardc.source import Path_

_HELP = {
    "SHD105": "rename the output",
    "SHD110": "correct the formula, or the config that it reads",
    "SHD112": "correct the formula, or the config that it reads",
    "SHD212": "take the tensors of this output by themselves, or the checkpoint in a format without such units",
    "SHD230": "correct the output, or the shapes of its tensors",
    "SHD401": "the tensors of one output are all in the file, or none of them",
    "SHD420": "write an output for each dtype, or cast to one: `dtype: {file: […], load: …}`",
}


def check(bound: Bound) -> Iterator[Diagnostic]:
    """What forbids to build outputs whatever the mesh; one finding for each output and code."""
    groups: dict[tuple[Path_, str], list[BuildFault]] = {}
    for fault in bound.outputs.faults:
        groups.setdefault((fault.output.path, fault.code), []).append(fault)
    for (_, code), faults in groups.items():
        names = dict.fromkeys(fault.name for fault in faults)
        more = f" (and {len(names) - 1} more like it)" if len(names) > 1 else ""
        label = Label(bound.resolved.document.key(*faults[0].output.path))
        yield Diagnostic(code, faults[0].message + more, label, help=_HELP[code])
    if bound.outputs.built:
        yield from _collisions(bound)
        yield from _twins(bound)


def findings(broken: Iterable[tuple[OutputFault, Mapping[str, int]]], bound: Bound) -> list[Diagnostic]:
    """What forbids to build outputs on the meshes at hand; what is said of several sizes is one finding."""
    groups: dict[tuple[Path_, str], list[tuple[OutputFault, Mapping[str, int]]]] = {}
    for fault, mesh in broken:
        groups.setdefault((fault.built.output.path, fault.error.code), []).append((fault, mesh))
    return [_finding(group, bound) for group in groups.values()]


def _finding(group: list[tuple[OutputFault, Mapping[str, int]]], bound: Bound) -> Diagnostic:
    (first, mesh), *more = group
    tp = mesh.get("tp", 1)
    also = tuple(dict.fromkeys(size for _, other in more if (size := other.get("tp", 1)) != tp))
    valid = valid_sizes(bound, mesh, "tp")
    return Diagnostic(
        first.error.code,
        f"{first.name}: {first.error.message}",
        Label(bound.resolved.document.key(*first.built.output.path)),
        values=mesh_values(mesh, bound),
        valid={"tp": valid} if valid else {},
        notes=also_at("tp", also),
        help=_HELP[first.error.code],
    )


def _collisions(bound: Bound) -> Iterator[Diagnostic]:
    """Names that an output, or a companion of one, shares with another output or with a tensor beside it."""
    taken: set[str] = set()
    built: dict[str, Output] = {}
    double: dict[str, Output] = {}
    for one in bound.outputs.built:
        weights = {name for build in one.builds for names in build.slices for name in names}
        for stored in one.families[0].stored.parts:
            for build in one.builds:
                name = stored.part.named(build.name) if stored.part else build.name
                if built.setdefault(name, one.output) is not one.output:
                    double[name] = one.output
        for family in one.families:
            for stored in family.stored.parts:
                taken |= {stored.part.named(name) if stored.part else name for name in weights & set(family.names)}
    for family in bound.families:
        for stored in family.stored.parts:
            double |= {name: built[name] for name in stored.names if name in built and name not in taken}
    reported: set[Path_] = set()
    for name, output in double.items():
        if output.path not in reported:
            reported.add(output.path)
            label = Label(bound.resolved.document.key(*output.path))
            message = f"{name} is the name of an output and of a tensor beside it"
            yield Diagnostic("SHD105", message, label, help=_HELP["SHD105"])


def _twins(bound: Bound) -> Iterator[Diagnostic]:
    """A tied tensor is the very tensor that it is tied to, which then can't be a part of another."""
    twins = {twin: name for name, twin in bound.absent.items()}
    for one in bound.outputs.built:
        for build in one.builds:
            for name in (name for names in build.slices for name in names if name in twins):
                label = Label(bound.resolved.document.key(*one.output.path))
                message = f"{twins[name]} is tied to {name}, which goes into {build.name}"
                help = f"leave {name} by itself: what is tied to it is the same object"
                yield Diagnostic("SHD105", message, label, help=help)
