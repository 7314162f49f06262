"""A diff of specs as one HTML file: what changed in words, and before beside after in pictures."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from shardc.plan.as_text import size
from shardc.review.diff import CLASSES, CODES, MEANINGS, Diff, Item, SpecChange
from shardc.review.effects import Row, effect, rows
from shardc.review.pages.diff_pictures import Tables, pictures
from shardc.review.pages.embed import page
from shardc.review.pages.report import DRAWING
from shardc.review.summary import bytes_of, footer, headline, is_rewritten

_SCRIPTS = (*DRAWING, "tensors", "state", "diff")
_STYLES = ("base", "pictures", "report", "diff", "print")


def diff_html(diff: Diff) -> str:
    """The page; a pure function of the diff."""
    tables = Tables()
    drawn = [pictures(spec, tables) for spec in diff.specs]
    words = {
        "against": diff.against,
        "headline": headline(diff),
        "classes": [(one, CODES[one], MEANINGS[one]) for one in CLASSES if one in diff.classes],
        "specs": [_spec(spec, bool(own)) for spec, own in zip(diff.specs, drawn, strict=True)],
        "evidence": [(one.checkpoint, one.status, one.words) for one in diff.evidence],
        "footer": footer(diff) if diff.specs else "",
    }
    return page("diff.html", _SCRIPTS, _STYLES, {"specs": drawn, **tables.data()}, words)


def _spec(spec: SpecChange, is_drawn: bool) -> dict[str, object]:
    """The words of one spec."""
    versions = [("before", spec.before), ("after", spec.after)]
    return {
        "name": spec.name,
        "file": spec.file,
        "effect": effect(spec),
        "classes": [(one, CODES[one]) for one in spec.classes],
        "errors": [
            (side, f"{finding.code} {finding.message}")
            for side, version in versions
            if version is not None and version.resolved is None
            for finding in version.findings
        ],
        "changes": _changes(spec),
        "meshes": [_mesh(row) for row in rows(spec)],
        "drawn": is_drawn,
        "code": _code(spec),
    }


def _changes(spec: SpecChange) -> list[dict[str, object]]:
    """Fields of the spec, then of each axis, contract and tensor that is not what it was."""
    out: list[dict[str, object]] = []
    if spec.fields:
        out.append({"what": "", "name": spec.name, "count": None, "status": "", "fields": spec.fields})
    for what, items in (("axis", spec.axes), ("contract", spec.contracts), ("", spec.tensors)):
        out += [_item(what, item) for item in items]
    return out


def _item(what: str, item: Item) -> dict[str, object]:
    status = "rewritten" if is_rewritten(item) else "" if item.status == "changed" else item.status
    count = item.count if item.count not in (None, 0, 1) else None
    return {"what": what, "name": item.name, "count": count, "status": status, "fields": item.fields}


def _mesh(row: Row) -> dict[str, object]:
    """A line of the table of meshes: bytes of rank 0 before and after, and the difference where it is one mesh."""
    before, after = ([getattr(one, side).bytes for one in row.meshes] for side in ("before", "after"))
    more = ""
    if len(row.meshes) == 1 and before[0] is not None and after[0] is not None and before[0] != after[0]:
        more = f"{'+' if after[0] > before[0] else '−'}{size(abs(after[0] - before[0]))}"
    return {
        "checkpoint": row.checkpoint,
        "mesh": row.mesh,
        "before": bytes_of(before),
        "after": bytes_of(after),
        "more": more,
        "outcome": row.outcome,
    }


def _code(spec: SpecChange) -> dict[str, object] | None:
    """The lines of the generated module's diff, each with what it is; None where it did not change."""
    before, after = ((side.module or "" if side else "").splitlines() for side in (spec.before, spec.after))
    name = f"generated/{spec.name}.py"
    lines = list(difflib.unified_diff(before, after, f"a/{name}", f"b/{name}", lineterm=""))[2:]
    if not lines:
        return None
    added, removed = (sum(line.startswith(sign) for line in lines) for sign in "+-")
    return {"name": name, "added": added, "removed": removed, "lines": _kinds(lines)}


def _kinds(lines: Sequence[str]) -> list[tuple[str, str]]:
    kinds = {"+": "added", "-": "removed", "@": "place"}
    return [(kinds.get(line[:1], "same"), line) for line in lines]
