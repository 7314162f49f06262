"""What a generated module says of a checkpoint: its tensors, and the parts a quantised one is stored in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from shardc.runtime.config import Config
from shardc.runtime.contents import Contents
from shardc.runtime.meshes import MeshDim
from shardc.runtime.outputs import Output
from shardc.runtime.regions import Regions

DENSE = "dense"


Role = Literal["out", "in"]


class Dim(NamedTuple):
    """One dim of a part.

    role: the dim of the weight that it follows, `entries` for each `unit` elements there; None: so many entries.
    ceil: the last unit may be short. whole: never cut.
    Until it is settled, unit and entries may name a size of the format, whole a flag of it.
    """

    role: Role | None
    unit: int | str = 1
    ceil: bool = False
    entries: int | str = 1
    whole: bool | str = False


@dataclass(frozen=True, slots=True)
class Part:
    """One file tensor of a quantised tensor.

    name: `{stem}` stands for the tensor's name without its last `.weight`.
    dtypes: the ones the file may have.
    dims: those behind the weight's leading dims (stacked experts), which stay in front. () is a scalar.
    values: the sizes of the weight that it holds; a rank has its local ones, and the file's are not read.
    """

    name: str
    dtypes: tuple[str, ...]
    dims: tuple[Dim, ...]
    optional: bool = False
    values: tuple[Role, ...] = ()

    def named(self, stem: str) -> str:
        """Its name in the file."""
        before, after = self.ends
        return before + stem + after

    @property
    def ends(self) -> tuple[str, str]:
        """What stands before and after the stem in its name."""
        before, _, after = self.name.partition("{stem}")
        return before, after


@dataclass(frozen=True, slots=True, eq=False)
class Format:
    """A way to store a weight.

    sizes: those that checkpoints differ in: dotted paths of config.json, and the value where it has none of them.
    flags: (paths, part): true where the config is true at a path, or the file has that part.
    """

    parts: tuple[Part, ...]
    sizes: Mapping[str, tuple[tuple[str, ...], int]] = field(default_factory=dict)
    flags: Mapping[str, tuple[tuple[str, ...], str | None]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Family:
    """What tensors that differ in nothing but their names have in common, and what this rank keeps of each.

    shape: full, in elements: [out], [out, in], or more dims in front of these.
    kind: shard kind, such as `channel_rows`.
    dtype: dtypes that the dense tensor may have in the file.
    at: the regions this rank keeps of a dim; a dim that is not there is kept whole.
    load: dtype to load a dense tensor as; None: as in the file.
    formats: the formats it may be stored in.
    units: (axis, dim, stride): each element of the axis is `stride` rows of the dim.
    segments: the sizes of a dim that is a concatenation.
    nested: the sizes of the parts of concatenations that are repeated in a dim.
    swapped: the last two dims are [in, out].
    optional: the file may lack it. tied_to: where the file lacks it, it is this tensor.
    """

    shape: tuple[int, ...]
    kind: str
    dtype: tuple[str, ...]
    at: Mapping[int, Regions] = field(default_factory=dict)
    load: str | None = None
    formats: tuple[str, ...] = (DENSE,)
    units: tuple[tuple[str, int, int], ...] = ()
    segments: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    nested: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    swapped: bool = False
    optional: bool = False
    tied_to: str | None = None

    @property
    def leading(self) -> int:
        """Dims in front of the last two."""
        return max(len(self.shape) - 2, 0)

    @property
    def roles(self) -> dict[Role, int]:
        """The dim that is a weight's output, and the one that is its input; one dim alone is an output."""
        if len(self.shape) == 1:
            return {"out": 0}
        last = len(self.shape) - 1
        return {"out": last, "in": last - 1} if self.swapped else {"out": last - 1, "in": last}


class Tensor(NamedTuple):
    """One tensor of the checkpoint; those of one family are planned once."""

    name: str
    family: Family

    @property
    def stem(self) -> str:
        """The name without its last `.weight`."""
        return stem_of(self.name)


def stem_of(name: str) -> str:
    """A name without its last `.weight`."""
    return name.removesuffix(".weight")


Formats = Mapping[str, Format]
Describe = Callable[[Config, Mapping[str, MeshDim], Mapping[str, int], Contents], Iterable[Tensor | Output]]


@dataclass(frozen=True, slots=True)
class Spec:
    """One architecture: what it describes, formats by name, globs of names it ignores, mesh dims and default dtypes.

    name: of the spec. digest: of what it means, equal where two modules cut alike.
    """

    tensors: Describe
    formats: Formats
    ignored: tuple[str, ...]
    mesh: tuple[str, ...]
    dtype: tuple[str, ...]
    name: str = ""
    digest: str = ""
