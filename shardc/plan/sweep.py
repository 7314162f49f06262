"""Which mesh sizes work, and what stops each of the others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct

from shardc.layout.show import show
from shardc.plan.bound import Bound
from shardc.plan.compile import Compiled, compile_plan
from shardc.plan.totals import rank_totals


class Tried(Struct, frozen=True):
    """One mesh: bytes of its rank 0 if it works, otherwise why not (the first reason of each kind)."""

    mesh: Mapping[str, int]
    local: int | None
    reasons: tuple[str, ...]


def sweep(bound: Bound, meshes: Iterable[Mapping[str, int]]) -> list[Tried]:
    return [_try(bound, mesh) for mesh in meshes]


def reasons(compiled: Compiled) -> tuple[str, ...]:
    """What stands in the way, shortest form: the axis, the unit or the contract, with its numbers."""
    out = [f"{fault.error.code} {fault.error.message}" for fault in compiled.axes]
    out += [f"{fault.error.code} {fault.name}: {fault.error.message}" for fault in compiled.cuts]
    out += [f"SHD401 {fault.message}" for fault in compiled.ties]
    out += [f"{fault.error.code} {fault.name}: {fault.error.message}" for fault in compiled.outputs]
    for broken in compiled.contracts:
        if broken.error is not None:
            out.append(f"{broken.error.code} {broken.contract.use}: {broken.error.message}")
            continue
        values = ", ".join(f"{name} = {value}" for name, value in broken.values.items())
        out.append(f"SHD301 {broken.contract.use}: {show(broken.contract.require)}, {values}")
    return tuple(dict.fromkeys(out))


def _try(bound: Bound, mesh: Mapping[str, int]) -> Tried:
    compiled = compile_plan(bound, mesh)
    if compiled.ok and compiled.plan is not None:
        return Tried(mesh, rank_totals(compiled.plan, dict.fromkeys(mesh, 0)).local, ())
    return Tried(mesh, None, reasons(compiled))
