"""The head of a diff: how many specs and tensors changed, and of what class."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from shardc.diagnostics.wording import plural
from shardc.plan.as_text import size
from shardc.review.diff import CODES, Class, Diff, Item, MeshChange, SpecChange


def headline(diff: Diff) -> str:
    """`1 spec changed · 2 tensors changed, 1 rewritten (equal), 0 added, 0 removed`"""
    if not diff.specs:
        recorded = f" · {plural(len(diff.evidence), 'recorded checkpoint')} changed" if diff.evidence else ""
        return f"no spec changed{recorded}"
    items = [item for spec in diff.specs for item in spec.tensors]
    rewritten = sum(is_rewritten(item) for item in items)
    changed = sum(item.status == "changed" for item in items) - rewritten
    counts = {word: sum(item.status == word for item in items) for word in ("added", "removed")}
    tensors = f"{plural(changed, 'tensor')} changed, {rewritten} rewritten (equal)"
    return (
        f"{plural(len(diff.specs), 'spec')} changed · {tensors}, {counts['added']} added, {counts['removed']} removed"
    )


def contracts_that_hold(specs: Iterable[SpecChange]) -> int:
    """Contracts that hold on every mesh that is claimed, each once for each checkpoint."""
    out = 0
    for spec in specs:
        held: dict[tuple[object, ...], bool] = {}
        for mesh in spec.meshes:
            if mesh.after.claimed and mesh.after.compiled is not None:
                for path, (holds, _) in mesh.after.compiled.asked.items():
                    held[mesh.checkpoint, *path] = holds and held.get((mesh.checkpoint, *path), True)
        out += sum(held.values())
    return out


def is_rewritten(item: Item) -> bool:
    """Whether it says the same in other words."""
    return item.status == "changed" and item.classes == ("equal",)


def classes(spec: SpecChange) -> str:
    """`layout (SHD601), coverage (SHD604)`"""
    return ", ".join(map(coded, spec.classes))


def coded(one: Class) -> str:
    return f"{one} ({CODES[one]})"


def bytes_of(counts: Sequence[int | None]) -> str:
    """Bytes of rank 0 over some meshes: `1.87 GiB`, `871.0 MiB .. 27.19 GiB`, `-` where nothing loads."""
    known = sorted({count for count in counts if count is not None})
    return " .. ".join(dict.fromkeys(map(size, known[:1] + known[-1:]))) or "-"


def first_cut(spec: SpecChange) -> list[MeshChange]:
    """Of each checkpoint the first mesh on which some rank keeps other bytes."""
    found: dict[str, MeshChange] = {}
    for mesh in spec.meshes:
        if mesh.cuts:
            found.setdefault(mesh.checkpoint, mesh)
    return list(found.values())


def footer(diff: Diff) -> str:
    """`checks: 14 contracts hold · generated/ current · 0 errors`"""
    checks = diff.checks
    stale = f"{plural(len(checks.stale), 'file')} out of date (run `shardc build`)"
    current = stale if checks.stale else "generated files current"
    warnings = f", {plural(checks.warnings, 'warning')}" if checks.warnings else ""
    more = " (`shardc check` says which)" if checks.errors or checks.warnings else ""
    contracts = f"{plural(checks.contracts, 'contract')} {'holds' if checks.contracts == 1 else 'hold'}"
    return f"checks: {contracts} · {current} · {plural(checks.errors, 'error')}{warnings}{more}"
