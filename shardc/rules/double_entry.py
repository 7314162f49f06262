"""The kind that a tensor declares against the kind that its shape implies (SHD210, SHD211)."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from shardc.diagnostics import Diagnostic, Label
from shardc.plan.kinds import MEANING, agrees, specific, words_of
from shardc.plan.resolved import Entry, Resolved


def check(resolved: Resolved) -> Iterator[Diagnostic]:
    seen = set()
    for entry in resolved.entries:
        if entry.path in seen:
            continue
        seen.add(entry.path)
        yield from _unknown(entry, resolved) or _compare(entry, resolved)


def _unknown(entry: Entry, resolved: Resolved) -> list[Diagnostic]:
    place = resolved.document.value(*entry.path, "shard")
    help = f"kinds: {', '.join(MEANING)}; or `expert_slices + …`"
    return [
        Diagnostic("SHD106", f"unknown shard kind `{word}`", Label(place, _did_you_mean(word)), help=help)
        for word in words_of(entry.kind)
        if word not in MEANING
    ]


def _did_you_mean(word: str) -> str:
    near = get_close_matches(word, MEANING, n=1)
    return f"did you mean `{near[0]}`?" if near else ""


def _compare(entry: Entry, resolved: Resolved) -> Iterator[Diagnostic]:
    document = resolved.document
    name = entry.path[-1]
    shard = document.value(*entry.path, "shard")
    if not agrees(entry.kind, entry.derived):
        yield Diagnostic(
            "SHD210",
            f"{name} says {entry.kind}, its shape says {entry.derived}",
            Label(shard, _meaning(entry.kind)),
            related=(Label(document.value(*entry.path, "shape"), _meaning(entry.derived)),),
            help=f"if the shape {entry.formula} is right, write `shard: {entry.derived}`; "
            "if the kind is, correct the shape",
        )
    elif "rank0" in words_of(entry.kind) and entry.rank0_dim is None:
        yield Diagnostic(
            "SHD210",
            f"{name} says {entry.kind}, but has no rows that other ranks could fill with zeros",
            Label(shard, _meaning(entry.kind)),
            related=(Label(document.value(*entry.path, "shape"), "no output dim"),),
            help=f"write `shard: {entry.derived}`, or give the shape an output dim",
        )
    elif not specific(entry.kind, entry.derived):
        message = f"{name} says {entry.kind}; its shape says more: {entry.derived}"
        label = Label(shard, _meaning(entry.derived))
        help = f"write `shard: {entry.derived}`: the more specific kind catches more slips"
        yield Diagnostic("SHD211", message, label, help=help, severity="hint")


def _meaning(kind: str) -> str:
    return ", ".join(MEANING.get(word, word) for word in words_of(kind))
