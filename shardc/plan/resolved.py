"""A spec with every formula read, every name known and every `like` and `let` carried out. No numbers yet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct, field

from shardc.layout.expr import Expr, Num, names
from shardc.layout.permutation import Run
from shardc.layout.show import show
from shardc.layout.split import Dealing
from shardc.plan.stages import Ends
from shardc.source import Document, Path_
from shardc.spec.model import Spec


def in_order(mesh_dims: Iterable[str]) -> tuple[str, ...]:
    """Mesh dims as world ranks count them: tp varies fastest and pp slowest, the others between by their names."""
    return tuple(sorted(mesh_dims, key=lambda dim: (dim == "pp", dim != "tp", dim)))


class HeaderDim(Struct, frozen=True):
    """The size of a dim, as stored, of the first tensor whose name matches the glob `tensor`."""

    tensor: str
    dim: int


class Symbol(Struct, frozen=True):
    """A fact: at one of `keys` of config.json (dotted, below the spec's root), or in a header, or `otherwise`."""

    name: str
    keys: tuple[str, ...]
    header: HeaderDim | None
    otherwise: Expr | None
    path: Path_


class Axis(Struct, frozen=True):
    """An axis as declared. `role` is heads, vocab, experts, layers or plain; `within` names its parent."""

    name: str
    size: Expr
    over: str
    within: str | None
    how: Dealing
    role: str
    path: Path_


class Loop(Struct, frozen=True):
    """Values start .. stop-1 of an index in names; where they are elements of an axis, that selects names.

    `size` is of that axis.
    """

    index: str
    start: Expr
    stop: Expr
    axis: str | None
    size: Expr | None = None

    @property
    def is_part(self) -> bool:
        """Whether it runs over a part of its axis."""
        return self.axis is not None and (self.start != Num(0) or self.stop != self.size)


class PartDim(Struct, frozen=True):
    """One dim of a format's tensor, behind the weight's leading (expert) dims.

    It follows the weight's `out` or `in` dim: `count` entries here for each `unit` elements there, the last unit short
    if `ceil`. Without a role it has `count` entries, whatever the weight. A `whole` one is never cut. Until the format
    is sized, `unit` or `count` may be the name of one of its sizes, and `whole` of one of its flags.
    """

    role: str | None
    unit: int | str
    ceil: bool = False
    count: int | str = 1
    whole: bool | str = False


class FormatPart(Struct, frozen=True):
    """One tensor of a format. `dims` is empty for a scalar.

    `values`: it holds these sizes of the weight, `out` or `in`, and each rank has its own instead of the file's.
    """

    name: str
    dtypes: tuple[str, ...]
    dims: tuple[PartDim, ...]
    optional: bool
    values: tuple[str, ...] = ()

    def named(self, tensor: str) -> str:
        """Its name for the weight `tensor`."""
        return self.all_named((tensor,))[0]

    def all_named(self, tensors: tuple[str, ...]) -> tuple[str, ...]:
        """Its names for many weights, which end alike: all in `.weight`, or none."""
        are_weights = bool(tensors) and tensors[0].endswith(".weight")
        if are_weights and self.name == "{stem}.weight":
            return tensors
        before, after = self.name.split("{stem}")
        end = -len(".weight") if are_weights else None
        return tuple([before + tensor[:end] + after for tensor in tensors])


class FormatSize(Struct, frozen=True):
    """A size that checkpoints of a format differ in (a group's): keys of config.json, and a value without them."""

    name: str
    keys: tuple[str, ...]
    otherwise: int


class FormatFlag(Struct, frozen=True):
    """True where the config is true at one of the `keys`, or the file has the format's tensor `part`."""

    name: str
    keys: tuple[str, ...]
    part: str | None


class Format(Struct, frozen=True):
    """How a weight is stored. The dense format has no parts: it is one tensor of a plain dtype."""

    name: str
    parts: tuple[FormatPart, ...]
    sizes: tuple[FormatSize, ...] = ()
    flags: tuple[FormatFlag, ...] = ()


class Tie(Struct, frozen=True):
    name: str
    when: Expr | None


class Entry(Struct, frozen=True):
    """One tensor of the spec, standing for a name at each index.

    `dims` have their lets substituted, `written` have not; `axes` and `lets` are the group's own. `on` names the ranks
    that have it, where not all do.
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
    on: Ends = field(default_factory=dict)

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


class Member(Struct, frozen=True):
    """A tensor that an output takes in. `runs` say how its rows move from the layout `origin` to the layout `to`.

    None and () where they do not move.
    """

    entry: Entry
    path: Path_
    origin: Expr | None = None
    to: Expr | None = None
    runs: tuple[Run, ...] = ()


class Output(Struct, frozen=True):
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


class Contract(Struct, frozen=True):
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


class Resolved(Struct, frozen=True):
    """What every later step works on. `summed` has, for `rank0` biases, the axis that their layer is summed over."""

    spec: Spec
    document: Document
    symbols: Mapping[str, Symbol]
    axes: Mapping[str, Axis]
    lets: Mapping[str, Expr]
    entries: tuple[Entry, ...]
    contracts: tuple[Contract, ...]
    outputs: tuple[Output, ...] = ()
    summed: Mapping[str, str] = field(default_factory=dict)

    def axes_of(self, entry: Entry) -> Mapping[str, Axis]:
        """The axes that an entry may name: the spec's, and those of its group."""
        return {**self.axes, **entry.axes}

    @property
    def mesh_dims(self) -> tuple[str, ...]:
        """Mesh dims that split something, and tp, in the order in which ranks are counted."""
        return in_order({"tp", *self.splitting})

    @property
    def splitting(self) -> set[str]:
        """Mesh dims that some axis is over."""
        own = (axis for entry in self.entries for axis in entry.axes.values())
        return {axis.over for axis in (*self.axes.values(), *own)}
