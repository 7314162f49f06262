"""What a generated module says of a checkpoint: its tensors, and the parts a quantised one is stored in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from shardc.runtime.config import Config
from shardc.runtime.meshes import MeshDim
from shardc.runtime.outputs import Output
from shardc.runtime.regions import Regions

DENSE = "dense"


@dataclass(frozen=True, slots=True)
class Part:
    """One file tensor of a quantised tensor.

    name: `{stem}` stands for the tensor's name without its last `.weight`.
    dtypes: the ones the file may have.
    dims: for each of the weight's last dims (role, unit, ceil): one element here is `unit` elements there; `ceil` where
        the last unit may be short. Dims in front of them (stacked experts) stay in front. () is a scalar.
    """

    name: str
    dtypes: tuple[str, ...]
    dims: tuple[tuple[Literal["out", "in"], int, bool], ...]
    optional: bool = False

    def named(self, stem: str) -> str:
        """Its name in the file."""
        return self.name.replace("{stem}", stem)


@dataclass(frozen=True, slots=True)
class Tensor:
    """One tensor of the checkpoint, and what this rank keeps of it.

    shape: full, in elements: [out], [out, in], or more dims in front of these.
    kind: shard kind, such as `channel_rows`.
    dtype: dtypes that the dense tensor may have in the file.
    at: the regions this rank keeps of a dim; a dim that is not there is kept whole.
    load: dtype to load a dense tensor as; None: as in the file.
    formats: the formats it may be stored in.
    units: (axis, dim, stride): each element of the axis is `stride` rows of the dim.
    segments: the sizes of a dim that is a concatenation.
    optional: the file may lack it. tied_to: where the file lacks it, it is this tensor.
    """

    name: str
    shape: tuple[int, ...]
    kind: str
    dtype: tuple[str, ...]
    at: Mapping[int, Regions] = field(default_factory=dict)
    load: str | None = None
    formats: tuple[str, ...] = (DENSE,)
    units: tuple[tuple[str, int, int], ...] = ()
    segments: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    optional: bool = False
    tied_to: str | None = None

    @property
    def stem(self) -> str:
        """The name without its last `.weight`."""
        return self.name.removesuffix(".weight")


Formats = Mapping[str, tuple[Part, ...]]
Describe = Callable[[Config, Mapping[str, MeshDim], Mapping[str, int]], Iterable[Tensor | Output]]


@dataclass(frozen=True, slots=True)
class Spec:
    """One architecture: what it describes, formats by name, globs of names it ignores, mesh dims and default dtypes."""

    tensors: Describe
    formats: Formats
    ignored: tuple[str, ...]
    mesh: tuple[str, ...]
    dtype: tuple[str, ...]


def role_dims(ndim: int) -> dict[str, int]:
    """The dim that is a weight's output, and the one that is its input: the last two; one dim alone is an output."""
    return {"out": 0} if ndim == 1 else {"out": ndim - 2, "in": ndim - 1}
