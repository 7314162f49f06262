"""What a change of specs does, as values: to each tensor, axis and contract, and to each target on each mesh."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from msgspec import Struct, field

from shardc.diagnostics import Diagnostic, Span
from shardc.plan.bound import Bound
from shardc.plan.compile import Compiled
from shardc.plan.resolved import Resolved

#: From what breaks most to what breaks nothing. MEANINGS says what each is.
Class = Literal["layout", "narrows", "collectives", "coverage", "widens", "equal", "cosmetic"]
CLASSES: tuple[Class, ...] = ("layout", "narrows", "collectives", "coverage", "widens", "equal", "cosmetic")
CODES: Mapping[Class, str] = {
    "layout": "SHD601",
    "widens": "SHD602",
    "narrows": "SHD603",
    "coverage": "SHD604",
    "equal": "SHD605",
    "cosmetic": "SHD606",
    "collectives": "SHD607",
}
#: What each means, for someone who has not seen the spec.
MEANINGS: Mapping[Class, str] = {
    "layout": "a mesh that loaded before places bytes differently: files and caches cut with the old spec do not fit",
    "narrows": "something that loaded, or was claimed to, no longer does",
    "collectives": "the bytes are the same, but the model must do other work between ranks",
    "coverage": "the spec knows other tensors than before",
    "widens": "more loads than before; what loaded is as it was",
    "equal": "other text, same plan",
    "cosmetic": "comments, spacing or words for readers: nothing else",
}


def in_class_order(classes: Iterable[Class]) -> tuple[Class, ...]:
    """The classes, each once, what breaks most first."""
    given = set(classes)
    return tuple(one for one in CLASSES if one in given)


class Field(Struct, frozen=True):
    """One field, before and after; None where it was not there. `note` says what that means: `equal formula`."""

    name: str
    before: str | None
    after: str | None
    note: str = ""


class Item(Struct, frozen=True):
    """A tensor (by its pattern, indices as `*`), an axis or a contract that is not what it was.

    `count` is how many tensors of the first recorded checkpoint the pattern stands for. An item of class `equal` is
    written otherwise and cut the same. `span` is where it stands, in the text after or, if it is gone, before.
    """

    name: str
    status: Literal["added", "removed", "changed"]
    classes: tuple[Class, ...]
    fields: tuple[Field, ...]
    span: Span
    count: int | None = None


class Cut(Struct, frozen=True):
    """How ranks keep some tensors, in words, before and after: `128 x 2048: rows 0..128`."""

    pattern: str
    count: int
    before: str
    after: str


class Side(Struct, frozen=True):
    """One target on one mesh, on one side of the change. `bytes` are rank 0's; None where it does not load."""

    claimed: bool
    bytes: int | None
    reasons: tuple[str, ...] = ()
    compiled: Compiled | None = None

    @property
    def planned(self) -> bool:
        """Whether there is a plan, be it of tensors that the file has or not."""
        return self.compiled is not None and self.compiled.ok


class MeshChange(Struct, frozen=True):
    """One checkpoint on one mesh; `cuts` are the tensors that some rank keeps otherwise."""

    checkpoint: str
    mesh: Mapping[str, int]
    before: Side
    after: Side
    classes: tuple[Class, ...]
    cuts: tuple[Cut, ...] = ()


class Version(Struct, frozen=True):
    """A spec on one side of the change: what it resolves to (None where it has errors) and what it is bound to.

    `module` is the generated module's text, None where there is none.
    """

    file: str
    resolved: Resolved | None
    findings: tuple[Diagnostic, ...] = ()
    bound: Mapping[str, Bound] = field(default_factory=dict)
    module: str | None = None


class SpecChange(Struct, frozen=True):
    """One spec that is not what it was; `before` or `after` is None where it was added or removed."""

    name: str
    before: Version | None
    after: Version | None
    classes: tuple[Class, ...]
    fields: tuple[Field, ...] = ()
    axes: tuple[Item, ...] = ()
    contracts: tuple[Item, ...] = ()
    tensors: tuple[Item, ...] = ()
    meshes: tuple[MeshChange, ...] = ()

    @property
    def file(self) -> str:
        version = self.after or self.before
        assert version is not None
        return version.file


class Evidence(Struct, frozen=True):
    """A recorded checkpoint that changed; `words` say how: `hidden_size 4096 -> 8192; 3 tensors differ`."""

    checkpoint: str
    status: Literal["added", "removed", "changed"]
    words: str = ""


class Checks(Struct, frozen=True):
    """What the specs that changed are worth as they are: findings, contracts that hold, and files that are not current.

    `contracts` counts contracts, each once for each checkpoint on whose claimed meshes it holds.
    """

    errors: int = 0
    warnings: int = 0
    contracts: int = 0
    stale: tuple[str, ...] = ()


class Diff(Struct, frozen=True):
    """Everything that changed between `against` and the files as they are; specs that did not change are not in it."""

    against: str
    specs: tuple[SpecChange, ...]
    evidence: tuple[Evidence, ...] = ()
    checks: Checks = Checks()

    @property
    def classes(self) -> tuple[Class, ...]:
        return in_class_order(one for spec in self.specs for one in spec.classes)
