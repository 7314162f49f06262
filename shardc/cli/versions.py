"""The specs of both sides of `shardc diff` that are not the same text, read, resolved and bound."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec.structs import replace

from shardc.checkpoint import Checkpoint, read_checkpoint
from shardc.cli.sides import Side
from shardc.cli.specs import evidence_of, resolve_spec
from shardc.diagnostics.findings import counts
from shardc.emit.module import module
from shardc.plan.bound import bind
from shardc.plan.evidence import Evidence
from shardc.review.compare.specs import spec_change
from shardc.review.diff import SpecChange, Version
from shardc.source import load
from shardc.spec.read import read_spec

#: By path: the name that a spec's text gives, "" for none, and what the text is.
_Read = Mapping[str, tuple[str, Version]]


class Recorded:
    """The recorded checkpoints of one side; each is read when it is asked for."""

    def __init__(self, side: Side) -> None:
        self.side = side
        self._read: dict[str, Checkpoint | None] = {}

    def find(self, name: str) -> Checkpoint | None:
        """None where there is none that can be read."""
        if name not in self._read:
            path = self.side.tables.get(name)
            self._read[name] = read_checkpoint(path)[0] if path is not None else None
        return self._read[name]


def spec_changes(before: Side, after: Side) -> Iterator[SpecChange]:
    """Every spec that differs in its text, by name; one whose file moved is the same spec."""
    alike = {path for path in before.specs.keys() & after.specs.keys() if _same(before.specs[path], after.specs[path])}
    read = [
        {path: _version(side, file) for path, file in side.specs.items() if path not in alike}
        for side in (before, after)
    ]
    old, new = _named(read[0], read[1]), _named(read[1], read[0])
    recorded = Recorded(before), Recorded(after)
    for name in dict.fromkeys([*new, *old]):
        sides = [side.get(name) for side in (old, new)]
        evidence = dict(_evidence(sides, recorded))
        was, is_ = (_bound(side, evidence) for side in sides)
        yield spec_change(name, was, is_)


def changed_checkpoints(before: Side, after: Side) -> tuple[dict[str, Checkpoint], dict[str, Checkpoint]]:
    """The recorded checkpoints that differ in their bytes, on each side."""
    differing = {
        name
        for name in {*before.tables, *after.tables}
        if name not in before.tables or name not in after.tables or not _same(before.tables[name], after.tables[name])
    }
    out: tuple[dict[str, Checkpoint], dict[str, Checkpoint]] = ({}, {})
    for side, found in zip((before, after), out, strict=True):
        recorded = Recorded(side)
        found |= {name: one for name in sorted(differing) if (one := recorded.find(name)) is not None}
    return out


def _named(read: _Read, other: _Read) -> dict[str, Version]:
    """By the name of the spec. Where the text gives none, by that of the file at its path on the other side.

    By its path where there is none either, or the name is taken.
    """
    out: dict[str, Version] = {}
    for path, (own, version) in read.items():
        name = own or (other[path][0] if path in other else "")
        out[name if name and name not in out else path] = version
    return out


def _version(side: Side, file: Path) -> tuple[str, Version]:
    shown = side.shown(file)
    document, findings = load(file, shown)
    if document is None:
        return "", Version(shown, None, tuple(findings))
    spec, findings = read_spec(document)
    if spec is None:
        given = document.data.get("name") if isinstance(document.data, dict) else None
        return given if isinstance(given, str) else "", Version(shown, None, tuple(findings))
    resolved, findings = resolve_spec(spec, document)
    return spec.name, Version(shown, resolved, tuple(findings), module=module(resolved) if resolved else None)


def _evidence(sides: list[Version | None], recorded: tuple[Recorded, Recorded]) -> Iterator[tuple[str, Evidence]]:
    """What both versions are tried on: their targets' checkpoints, as they are now or, if they are gone, were."""
    for version in reversed(sides):
        for target in version.resolved.spec.targets if version and version.resolved else ():
            name = target.checkpoint
            checkpoint = recorded[1].find(name) or recorded[0].find(name)
            if checkpoint is not None:
                yield name, evidence_of(checkpoint, f"target {name}")


def _bound(version: Version | None, evidence: Mapping[str, Evidence]) -> Version | None:
    if version is None or version.resolved is None or counts(version.findings).errors:
        return version
    return replace(version, bound={name: bind(version.resolved, one) for name, one in evidence.items()})


def _same(one: Path, other: Path) -> bool:
    return one.read_bytes() == other.read_bytes()
