"""A diff as one comment of a pull request."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Set

from msgspec import Struct

from shardc.diagnostics.wording import plural
from shardc.plan.as_text import size
from shardc.review.diff import CLASSES, MEANINGS, Diff, Item, SpecChange
from shardc.review.effects import Row, by_checkpoint, effect
from shardc.review.effects import rows as mesh_rows
from shardc.review.shown.escape import code, fenced, in_html, words
from shardc.review.summary import bytes_of, classes, first_cut, footer, headline, is_rewritten
from shardc.review.wording import mesh_words

#: The first line, by which a bot finds the comment that it wrote before.
MARK = "<!-- shardc:diff -->"
#: GitHub takes comments of 65,536 characters.
LIMIT = 60_000
#: Rows of one table.
_ROWS = 200


class _Section(Struct, frozen=True):
    """A part of the comment that may be left out; `name` says what then is missing."""

    name: str
    text: str


def as_markdown(diff: Diff, limit: int = LIMIT) -> str:
    """The comment, of at most `limit` characters: what does not fit is left out from the bottom, and named."""
    end = footer(diff) if diff.specs else ""
    kept = [*_sections(diff, limit)]
    dropped: list[_Section] = []
    while (text := _joined(diff, kept, dropped, end)) and len(text) > limit and kept:
        dropped.insert(0, kept.pop())
    return text


def _joined(diff: Diff, kept: list[_Section], dropped: list[_Section], end: str) -> str:
    left_out = ""
    if dropped:
        first = ", ".join(section.name for section in dropped[:3])
        more = f" and {plural(len(dropped) - 3, 'more section')}" if len(dropped) > 3 else ""
        left_out = f"_Left out, for the length of a comment: {first}{more}. `shardc diff` shows everything._"
    parts = [f"{MARK}\n### shardc: {headline(diff)}", *(section.text for section in kept), left_out, end]
    return "\n\n".join(filter(None, parts))


def _sections(diff: Diff, limit: int) -> Iterator[_Section]:
    if diff.specs:
        yield _Section("the table of specs", _status(diff, limit // 3))
        yield _Section("what the classes mean", _meanings(diff))
    for spec in diff.specs:
        yield from _made(f"tensors of {spec.name}", spec, _tensors)
    if diff.evidence:
        yield _Section("recorded checkpoints", _evidence(diff))
    for spec in diff.specs:
        yield from _made(f"plans of {spec.name}", spec, _plans)
    for spec in diff.specs:
        yield from _made(f"generated code of {spec.name}", spec, _generated)


def _made(name: str, spec: SpecChange, make: Callable[[SpecChange], str]) -> Iterator[_Section]:
    text = make(spec)
    if text:
        yield _Section(code(name), text)


def _status(diff: Diff, limit: int) -> str:
    """A row for each spec; of too many for `limit` characters the last are only counted."""
    rows = [[code(spec.file), words(effect(spec)), classes(spec)] for spec in diff.specs]
    kept = len(rows)
    while (text := _table(["spec", "effect", "class"], rows[: max(kept, 0)])) and len(text) > limit and kept:
        kept -= 1 + kept // 10
    more = len(rows) - max(kept, 0)
    return f"{text}\n\n… and {plural(more, 'more spec')}" if more else text


def _meanings(diff: Diff) -> str:
    return "\n".join(f"- **{one}**: {MEANINGS[one]}" for one in CLASSES if one in diff.classes)


def _tensors(spec: SpecChange) -> str:
    """Everything that is written otherwise, then who keeps what."""
    version = spec.after or spec.before
    assert version is not None
    named = version.resolved.spec.architectures if version.resolved else [spec.name]
    parts = [f"**{words(', '.join(named))}**"]
    for side in (spec.before, spec.after):
        for finding in side.findings if side is not None and side.resolved is None else ():
            parts.append(f"{code(side.file if side else '')}: {code(f'{finding.code} {finding.message}')}")
    rows = [[code(f.name), "", code(f.before or ""), _after(f.after, f.note)] for f in spec.fields]
    items = [("axis ", spec.axes), ("contract ", spec.contracts), ("", spec.tensors)]
    rows += [row for what, found in items for item in found for row in _item(what, item)]
    if rows:
        parts.append(_table(["tensor", "field", "before", "after"], rows))
    for mesh in first_cut(spec):
        cuts = [[f"{code(cut.pattern)} ×{cut.count}", code(cut.before), code(cut.after)] for cut in mesh.cuts]
        parts.append(f"What a rank keeps, {code(mesh.checkpoint)} at {mesh_words(mesh.mesh)}:")
        parts.append(_table(["tensor", "before", "after"], cuts))
    return "\n\n".join(parts) if len(parts) > 1 else ""


def _item(what: str, item: Item) -> Iterator[list[str]]:
    count = f" ×{item.count}" if item.count not in (None, 0, 1) else ""
    name = f"{what}{code(item.name)}{count}"
    word = "" if is_rewritten(item) or item.status == "changed" else item.status
    for field in item.fields:
        yield [name, words(field.name), code(field.before or ""), _after(field.after, field.note or word)]
    if not item.fields:
        yield [name, "", "", word]


def _after(text: str | None, note: str) -> str:
    return " ".join(filter(None, (code(text or ""), f"({words(note)})" if note else "")))


def _plans(spec: SpecChange) -> str:
    tried = [mesh for meshes in by_checkpoint(spec).values() for mesh in meshes]
    if not tried:
        return ""
    same = sum(not mesh.classes for mesh in tried)
    rows = [_plan(row) for row in mesh_rows(spec)]
    title = f"Plans of <code>{in_html(spec.name)}</code>: {same} of {len(tried)} unchanged"
    return _folded(title, _table(["config", "mesh", "rank 0 before", "after", ""], rows, right={2, 3})) if rows else ""


def _plan(row: Row) -> list[str]:
    before, after = ([getattr(one, side).bytes for one in row.meshes] for side in ("before", "after"))
    more = ""
    if len(row.meshes) == 1 and before[0] is not None and after[0] is not None and before[0] != after[0]:
        more = f", {'+' if after[0] > before[0] else '−'}{size(abs(after[0] - before[0]))}"
    said, _, why = row.outcome.partition("SHD")
    reason = f"{words(said)}{code('SHD' + why)}" if why else words(said)
    return [code(row.checkpoint), row.mesh, bytes_of(before), bytes_of(after) + more, reason]


def _generated(spec: SpecChange) -> str:
    was, is_ = (side.module if side is not None else None for side in (spec.before, spec.after))
    name = f"generated/{spec.name}.py"
    lines = list(
        difflib.unified_diff((was or "").splitlines(), (is_ or "").splitlines(), f"a/{name}", f"b/{name}", lineterm="")
    )
    if not lines:
        return ""
    added = sum(line.startswith("+") for line in lines[2:])
    removed = sum(line.startswith("-") for line in lines[2:])
    title = f"Generated code: <code>{in_html(name)}</code> +{added} −{removed}"
    return _folded(title, fenced("\n".join(lines), "diff"))


def _evidence(diff: Diff) -> str:
    rows = [[code(one.checkpoint), one.status, code(one.words)] for one in diff.evidence]
    return _table(["recorded checkpoint", "", ""], rows)


def _folded(title: str, body: str) -> str:
    return f"<details><summary>{title}</summary>\n\n{body}\n\n</details>"


def _table(head: list[str], rows: list[list[str]], right: Set[int] = frozenset()) -> str:
    rule = ["--:" if i in right else "---" for i in range(len(head))]
    lines = [f"| {' | '.join(cells)} |" for cells in (head, rule, *rows[:_ROWS])]
    if len(rows) > _ROWS:
        lines.append(f"\n… and {plural(len(rows) - _ROWS, 'more row')}")
    return "\n".join(lines)
