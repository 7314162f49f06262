"""What stands below the table of a plan sheet: which rows ranks keep where shapes do not say it, and collectives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from shardc.layout.split import Split
from shardc.plan.as_text import table
from shardc.plan.collectives import Collective, at_work
from shardc.plan.names import starred
from shardc.plan.rows import shown_name
from shardc.review.sheets.cuts import Cuts, OnMesh, named
from shardc.review.sheets.rows import STEP, Row
from shardc.review.sheets.words import words

_KEEPS = "rank r keeps (a..b: from a, without b; a..+n: n from a)"


def cut_lines(rows: Sequence[Row], columns: Sequence[OnMesh]) -> list[str]:
    """Each dim that is neither whole on a rank nor the r-th of equal blocks, on each size of tp."""
    names = Counter(row.name for row in rows)
    lines = [
        (f"{row.name if names[row.name] == 1 else row.told_apart}, dim {dim.dim.i}", named(column.mesh), dim.words)
        for row in rows
        for i in range(max((len(cut) for cut in row.cuts if not isinstance(cut, str)), default=0))
        for column, cut in zip(columns, row.cuts, strict=True)
        if not isinstance(cut, str) and not (dim := cut[i]).is_plain
    ]
    return _table("* rows", lines)


def other_cut_lines(cuts: Cuts, meshes: Sequence[OnMesh]) -> list[str]:
    """What the ranks of one mesh dim have of axes that select names and, where it is not tp, of tensors' dims."""
    lines: list[tuple[str, str, str]] = []
    for on in meshes:
        for over in (dim for dim, n in on.mesh.items() if n > 1):
            lines += _dims_over(cuts, on, over) if over != "tp" else []
            lines += [
                (axis, named(on.mesh), words([share.with_padding for share in split.shares]))
                for axis, split in _selecting(cuts, on, over)
            ]
    return _table("names, and other mesh dims", list(dict.fromkeys(lines)))


def _dims_over(cuts: Cuts, on: OnMesh, over: str) -> Iterator[tuple[str, str, str]]:
    for family in cuts.bound.families:
        for part in family.stored.parts:
            cut = cuts.of(family, part, on)
            for one in (one for one in cut if not isinstance(one, str) and over in one.dim.over):
                yield f"{shown_name(part)}, dim {one.dim.i}", named(on.mesh), one.words


def _selecting(cuts: Cuts, on: OnMesh, over: str) -> Iterator[tuple[str, Split]]:
    """The axes over a mesh dim that select names, as far as they can be dealt."""
    for family in cuts.bound.placed:
        axes = cuts.bound.axes_of(family)
        for axis in (axis for axis in family.selecting if axes[axis].over == over):
            split = on.plan.splits.get((axis, family.env_key if axis in family.entry.axes else ()))
            if split is not None:
                yield axis, split


def collective_lines(meshes: Sequence[OnMesh]) -> list[str]:
    """What ranks have to do together, one line a tensor, and the sizes at which they do not."""
    found: dict[Collective, list[str]] = {}
    working = [one for one in meshes if one.works and any(n > 1 for n in one.mesh.values())]
    for one in working:
        for collective in at_work(one.plan):
            found.setdefault(collective, []).append(named(one.mesh))
    lines = []
    for collective, at in found.items():
        possible = [named(one.mesh) for one in working if one.mesh.get(collective.over, 1) > 1]
        without = [mesh for mesh in possible if mesh not in at]
        but = f"not at {', '.join(without)}" if without else ""
        lines.append((starred(collective.pattern), collective.what, f"{collective.over} {but}".rstrip()))
    return table([("collective after", "what", "over"), *lines], set(), STEP) if lines else []


def _table(heading: str, lines: Sequence[tuple[str, str, str]]) -> list[str]:
    return table([(heading, "mesh", _KEEPS), *lines], set(), STEP) if lines else []
