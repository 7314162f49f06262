"""Planted faults: a slip that somebody could make, as an edit of a spec, of what is generated, or of a plan."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import msgspec.structs
import yaml

from shardc.emit.tree import Tree
from shardc.layout.share import Share
from shardc.plan.plan import Plan
from shardc.prove.proof import Done

ROOT = Path(__file__).parent.parent
TABLE = ROOT / "tests" / "prove" / "faults"
#: Where a fault may be planted, as the table of the page says it.
PLACES = ("spec", "module", "runtime", "plan")
_FIELDS = {"of", "slip", "config", "with", "mesh", "caught", *PLACES[:3], "drop", "add", "shares"}


@dataclass(frozen=True)
class Edit:
    """`old` becomes `new`, in a text that has it so many times."""

    old: str
    new: str
    times: int = 1

    def applied(self, text: str, where: str) -> str:
        """The text with the edit. Raises ValueError where it does not fit."""
        found = text.count(self.old)
        if found != self.times:
            raise ValueError(f"{where} has this {found} times, not {self.times}: {self.old}")
        return text.replace(self.old, self.new)


@dataclass(frozen=True)
class Fault:
    """One fault.

    group: the file of the table. of: the spec. slip: what the author of an engine gets wrong.
    config: a small config, with the changes `given`.
    spec, module, runtime: edits of the spec's text, of the loader generated of it, and of what all loaders share.
    dropped: patterns of tensors whose collectives the plan loses; added: collectives that it gains.
    shares: [start, stop) of an axis on each rank, in place of those that the plan deals.
    caught: the codes of everything that finds the fault, each detector by itself.
    """

    name: str
    group: str
    of: str
    slip: str
    config: str
    mesh: Mapping[str, int]
    caught: frozenset[str]
    given: Mapping[str, Any] = field(default_factory=dict)
    spec: tuple[Edit, ...] = ()
    module: tuple[Edit, ...] = ()
    runtime: tuple[Edit, ...] = ()
    dropped: tuple[str, ...] = ()
    added: tuple[Done, ...] = ()
    shares: Mapping[str, tuple[tuple[int, int], ...]] = field(default_factory=dict)

    @property
    def places(self) -> list[str]:
        """Where it is planted."""
        planted = (self.spec, self.module, self.runtime, self.dropped or self.added or self.shares)
        return [place for place, edits in zip(PLACES, planted, strict=True) if edits]

    @property
    def clean(self) -> Fault:
        """The same without any fault."""
        return replace(self, spec=(), module=(), runtime=(), dropped=(), added=(), shares={})

    def spec_text(self) -> str:
        """The text of the spec with the fault."""
        return _edited((ROOT / "specs" / f"{self.of}.yaml").read_text(encoding="utf-8"), self.spec, f"{self.of}.yaml")

    def small_config(self) -> dict[str, Any]:
        """The small config with the fault's changes."""
        text = (ROOT / "specs" / "small" / f"{self.config}.json").read_text(encoding="utf-8")
        return {**json.loads(text), **self.given}

    def package(self, generated: Tree) -> Tree:
        """The generated package with the fault."""
        edits = {f"{self.of}.py": self.module, "_runtime.py": self.runtime}
        files = {name: _edited(text, edits.get(name, ()), name) for name, text in generated.files.items()}
        return Tree(files, generated.sources)

    def collectives(self, listed: tuple[Done, ...]) -> tuple[Done, ...]:
        """The plan's collectives with the fault. Raises ValueError where one to be dropped is not listed."""
        strange = set(self.dropped) - {pattern for pattern, _, _ in listed}
        if strange:
            raise ValueError(f"the plan lists no collective of {', '.join(sorted(strange))}: {listed}")
        return (*(one for one in listed if one[0] not in self.dropped), *self.added)

    def dealt(self, plan: Plan) -> Plan:
        """The plan with the fault's shares."""
        splits = dict(plan.splits)
        for axis, spans in self.shares.items():
            shares = tuple(Share(start, stop) for start, stop in spans)
            splits[axis, ()] = msgspec.structs.replace(splits[axis, ()], shares=shares)
        return Plan(plan.bound, plan.mesh, splits)


def _edited(text: str, edits: tuple[Edit, ...], where: str) -> str:
    for edit in edits:
        text = edit.applied(text, where)
    return text


@cache
def faults() -> tuple[Fault, ...]:
    """All of the table: a file for each group of specs, in the order of their names."""
    return tuple(
        _fault(path.stem, name, entry)
        for path in sorted(TABLE.glob("*.yaml"))
        for name, entry in yaml.safe_load(path.read_text(encoding="utf-8")).items()
    )


def _fault(group: str, name: str, entry: dict[str, Any]) -> Fault:
    unknown = entry.keys() - _FIELDS
    if unknown:
        raise ValueError(f"{name}: unknown fields {', '.join(sorted(unknown))}")
    edits = {place: tuple(Edit(**one) for one in entry.get(place, ())) for place in PLACES[:3]}
    return Fault(
        name=name,
        group=group,
        of=entry["of"],
        slip=entry["slip"],
        config=entry.get("config", entry["of"]),
        mesh=entry["mesh"],
        caught=frozenset(entry["caught"]),
        given=entry.get("with", {}),
        dropped=tuple(entry.get("drop", ())),
        added=tuple((pattern, what, over) for pattern, what, over in entry.get("add", ())),
        shares={axis: tuple((a, b) for a, b in spans) for axis, spans in entry.get("shares", {}).items()},
        spec=edits["spec"],
        module=edits["module"],
        runtime=edits["runtime"],
    )
