"""A diff for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from shardc.diagnostics.visible import visible
from shardc.plan.as_text import table
from shardc.review.diff import Diff, Item, SpecChange
from shardc.review.effects import Row, effect
from shardc.review.effects import rows as mesh_rows
from shardc.review.summary import bytes_of, classes, first_cut, footer, headline, is_rewritten
from shardc.review.wording import mesh_words

#: Differences of one mesh that are shown before they are only counted.
_CUTS = 12


def as_text(diff: Diff) -> str:
    """All of it, spec by spec, without a last line break."""
    lines = [f"{headline(diff)}, against {diff.against}"]
    for spec in diff.specs:
        lines += ["", f"{spec.file}: {classes(spec)}", f"  {effect(spec)}"]
        lines += [f"  {line}" if line else "" for line in _spec(spec)]
    if diff.evidence:
        lines += ["", "recorded checkpoints"]
        lines += [f"  {one.checkpoint}: {one.status}{': ' + one.words if one.words else ''}" for one in diff.evidence]
    if diff.specs:
        lines += ["", footer(diff)]
    return "\n".join(visible(line) for line in lines)


def _spec(spec: SpecChange) -> Iterator[str]:
    for side in (spec.before, spec.after):
        for finding in side.findings if side is not None and side.resolved is None else ():
            if finding.severity == "error":
                yield f"{side.file if side else ''}: {finding.code} {finding.message}"
    rows = [(one.name, "", one.before or "-", one.after or "-", one.note) for one in spec.fields]
    parts = {"axis ": spec.axes, "contract ": spec.contracts, "": spec.tensors}
    rows += [row for what, items in parts.items() for item in items for row in _item(what, item)]
    if rows:
        yield ""
        yield from table([("what", "field", "before", "after", ""), *rows], right=set())
    found = mesh_rows(spec)
    if found:
        yield ""
        yield from table([("checkpoint", "mesh", "before", "after", ""), *map(_mesh, found)], right={2, 3})
    for mesh in first_cut(spec):
        yield from ["", f"{mesh.checkpoint}, {mesh_words(mesh.mesh)}"]
        shown = [(f"{cut.pattern} x{cut.count}", cut.before, cut.after) for cut in mesh.cuts[:_CUTS]]
        yield from table([("tensor", "before", "after"), *shown], right=set())
        if len(mesh.cuts) > _CUTS:
            yield f"… and {len(mesh.cuts) - _CUTS} more"


def _item(what: str, item: Item) -> Iterator[tuple[str, str, str, str, str]]:
    name = what + item.name + (f" x{item.count}" if item.count not in (None, 0, 1) else "")
    word = "rewritten (equal)" if is_rewritten(item) else item.status
    for field in item.fields:
        yield name, field.name, field.before or "-", field.after or "-", field.note or word
        name = ""
    if not item.fields:
        yield name, "", "", "", word


def _mesh(row: Row) -> tuple[str, str, str, str, str]:
    before, after = (bytes_of([getattr(one, side).bytes for one in row.meshes]) for side in ("before", "after"))
    return row.checkpoint, row.mesh, before, after, row.outcome
