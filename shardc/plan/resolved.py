"""A spec with every formula read, every name known and every `like` and `let` carried out. No numbers yet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from shardc.layout.expr import Expr, names
from shardc.layout.permutation import Run
from shardc.layout.show import show
from shardc.layout.split import Dealing
from shardc.source import Document, Path_
from shardc.spec.model import Spec


@dataclass(frozen=True)
class Symbol:
    """A value of config.json: the first of `keys` (dotted, below the spec's root) that is there, or `otherwise`."""

    name: str
    keys: tuple[str, ...]
    otherwise: Expr | None
    path: Path_


@dataclass(frozen=True)
class Axis:
    """An axis as declared. `role` is heads, vocab, experts or plain; `within` names its parent."""

    name: str
    size: Expr
    over: str
    within: str | None
    how: Dealing
    role: str
    path: Path_


@dataclass(frozen=True)
class Loop:
    """Values start .. stop-1 of an index in names, or the elements of an axis, which then selects names."""

    index: str
    start: Expr
    stop: Expr
    axis: str | None


@dataclass(frozen=True)
class PartDim:
    """One of the last two dims of a format's tensor: the weight's `out` or `in`, `unit` of its elements to one here."""

    role: str
    unit: int
    ceil: bool


@dataclass(frozen=True)
class FormatPart:
    """One tensor of a format. `dims` is empty for a scalar; leading (expert) dims of the weight stay as they are."""

    name: str
    dtypes: tuple[str, ...]
    dims: tuple[PartDim, ...]
    optional: bool

    def named(self, tensor: str) -> str:
        """Its name for the weight `tensor`."""
        return self.all_named((tensor,))[0]

    def all_named(self, tensors: tuple[str, ...]) -> tuple[str, ...]:
        """Its names for many weights, which end alike: all in `.weight`, or none."""
        before, after = self.name.split("{stem}")
        end = -len(".weight") if tensors and tensors[0].endswith(".weight") else None
        return tuple([before + tensor[:end] + after for tensor in tensors])


@dataclass(frozen=True)
class Format:
    """How a weight is stored. The dense format has no parts: it is one tensor of a plain dtype."""

    name: str
    parts: tuple[FormatPart, ...]


@dataclass(frozen=True)
class Tie:
    name: str
    when: Expr | None


@dataclass(frozen=True)
class Entry:
    """One tensor of the spec, standing for a name at each index.

    `dims` have their lets substituted, `written` have not; `axes` and `lets` are the group's own.
    """

    group: str
    pattern: str
    path: Path_
    dims: tuple[Expr, ...]
    written: tuple[Expr, ...]
    loops: tuple[Loop, ...]
    when: tuple[Expr, ...]
    axes: Mapping[str, Axis]
    lets: Mapping[str, Expr]
    kind: str
    derived: str
    leads: int
    swapped: bool
    dtypes: tuple[str, ...]
    load: str | None
    own_dtype: bool
    formats: tuple[Format, ...]
    optional: bool
    tie: Tie | None
    collective: str | None

    @property
    def formula(self) -> str:
        """The shape as its author wrote it: `[heads * head_dim, hidden]`."""
        return f"[{', '.join(map(show, self.written))}]"

    @property
    def out_dim(self) -> int | None:
        """Index of the output dim; None for a scalar."""
        if len(self.dims) - self.leads == 0:
            return None
        return len(self.dims) - 1 if self.swapped else self.leads

    @property
    def rank0_dim(self) -> int | None:
        """The dim that rank 0 of tp keeps whole and the others fill with zeros; None for any other kind."""
        return self.out_dim if self.kind.endswith("rank0") else None

    @property
    def in_dim(self) -> int | None:
        """Index of the input dim; None for a vector."""
        if len(self.dims) - self.leads < 2:
            return None
        return len(self.dims) - 2 if self.swapped else self.leads + 1


@dataclass(frozen=True)
class Member:
    """A tensor that an output takes in. `origin` and `runs` say how its rows move; None and () where they do not."""

    entry: Entry
    path: Path_
    origin: Expr | None = None
    runs: tuple[Run, ...] = ()


@dataclass(frozen=True)
class Output:
    """A tensor that a rank builds of others: one after the other along the output dim, or interleaved `by` an axis.

    `stack` is the index whose elements become a dim in front; it is not in `pattern`.
    """

    group: str
    pattern: str
    path: Path_
    members: tuple[Member, ...]
    by: str | None
    stack: str | None

    @property
    def loops(self) -> tuple[Loop, ...]:
        """The indices of its name."""
        return tuple(loop for loop in self.members[0].entry.loops if loop.index != self.stack)

    @property
    def stack_axis(self) -> str | None:
        """The axis whose elements are stacked."""
        return next((loop.axis for loop in self.members[0].entry.loops if loop.index == self.stack), None)


@dataclass(frozen=True)
class Contract:
    """A kernel's requirement. `over` has the mesh dims whose ranks may differ in it, tp first; tp if there is none."""

    use: str
    given: Mapping[str, Expr]
    written: Mapping[str, Expr]
    require: Expr
    why: str
    help: str
    when: Expr | None
    over: tuple[str, ...]
    path: Path_

    @property
    def names(self) -> set[str]:
        """The config symbols and axes that its parameters are made of."""
        return set().union(*map(names, self.given.values()))


@dataclass(frozen=True)
class Resolved:
    """What every later step works on."""

    spec: Spec
    document: Document
    symbols: Mapping[str, Symbol]
    axes: Mapping[str, Axis]
    lets: Mapping[str, Expr]
    entries: tuple[Entry, ...]
    contracts: tuple[Contract, ...]
    outputs: tuple[Output, ...] = ()

    def axes_of(self, entry: Entry) -> Mapping[str, Axis]:
        """The axes that an entry may name: the spec's, and those of its group."""
        return {**self.axes, **entry.axes}

    @property
    def mesh_dims(self) -> tuple[str, ...]:
        """Mesh dims that split something, tp first."""
        used = {axis.over for axis in self.axes.values()}
        used |= {axis.over for entry in self.entries for axis in entry.axes.values()}
        return ("tp", *sorted(used - {"tp"}))
