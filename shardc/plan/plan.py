"""A plan: what every rank of one mesh keeps of every tensor."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from functools import cached_property
from math import prod

from msgspec import Struct, field

from shardc.layout.regions import Regions, Scope, local_size, merge, regions
from shardc.layout.share import Share
from shardc.layout.split import Split
from shardc.layout.units import in_entries
from shardc.plan.bound import AxisKey, Bound
from shardc.plan.family import Family
from shardc.plan.resolved import in_order
from shardc.plan.stages import is_on
from shardc.plan.stored import StoredPart
from shardc.plan.stored_dims import StoredDim, stored_dims
from shardc.plan.summed import is_whole
from shardc.spec.dtypes import SIZES

#: A rank on each mesh dim.
Coords = Mapping[str, int]


class Shard(Struct, frozen=True):
    """One stored tensor of a family on one rank: `names` are those this rank keeps.

    `shape` is full, as stored in the file; `at` has this rank's regions of each dim, in elements of the file's tensor.
    `values` are what the rank has instead of the file's elements, where those are sizes of the weight.
    """

    family: Family
    part: StoredPart
    names: tuple[str, ...]
    shape: tuple[int, ...]
    at: tuple[Regions, ...]
    values: tuple[int, ...] | None = None

    @property
    def kind(self) -> str:
        return self.part.kind

    @property
    def local_shape(self) -> tuple[int, ...]:
        return tuple(local_size(dim) for dim in self.at)

    @property
    def full_bytes(self) -> int:
        """Bytes of one tensor in the file."""
        return prod(self.shape) * SIZES[self.part.dtype]

    @property
    def local_bytes(self) -> int:
        """Bytes of one tensor on the rank, in the dtype it is loaded as."""
        return prod(self.local_shape) * SIZES[self.part.load]

    @property
    def real_elements(self) -> int:
        """Elements of one local tensor that come from the file."""
        return prod(sum(stop - start for start, stop, _ in dim) for dim in self.at)

    @property
    def padding_bytes(self) -> int:
        """Bytes of one local tensor that are zero fill."""
        return self.local_bytes - self.real_elements * SIZES[self.part.load]


class Plan(Struct, dict=True):
    """`mesh` gives the size of each mesh dim; `splits` every axis, dealt."""

    bound: Bound
    mesh: Mapping[str, int]
    splits: Mapping[AxisKey, Split]
    _dims: dict[tuple[object, ...], Regions] = field(default_factory=dict)

    @property
    def families(self) -> list[Family]:
        return self.bound.families

    def ranks(self) -> Iterator[Coords]:
        """Every rank of the mesh, by world rank: tp varies fastest and pp slowest, the others between by their names.

        On tp, ep and pp it is tp_rank + tp_size * (ep_rank + ep_size * pp_rank).
        """
        dims = in_order(self.mesh)[::-1]
        for ranks in itertools.product(*(range(self.mesh[dim]) for dim in dims)):
            yield dict(zip(dims, ranks, strict=True))

    def splits_of(self, family: Family) -> Mapping[str, Split]:
        """The splits of the axes that this family's shape can name."""
        if not family.entry.axes:
            return self._of_the_spec
        env = family.env_key
        own = {axis.name: self.splits[axis.name, env] for axis in family.entry.axes.values()}
        return {**self._of_the_spec, **own}

    @cached_property
    def _of_the_spec(self) -> Mapping[str, Split]:
        return {name: split for (name, env), split in self.splits.items() if not env}

    def dim(self, family: Family, dim: int, rank: Coords) -> Regions:
        """The rank's regions of one dim of the weight, in elements."""
        if family.entry.rank0_dim == dim:
            rows = family.shape[dim]
            here = rank.get(family.over[dim][0], 0) == 0 or self.is_alone(family)
            return merge([(0, rows, 0) if here else (0, 0, rows)])
        over = family.over[dim]
        if not over:
            return merge([(0, family.shape[dim], 0)])
        key = (id(family.entry.dims[dim]), family.env_key, *[rank.get(m, 0) for m in over])
        found = self._dims.get(key)
        if found is None:
            found = self._dims[key] = regions(family.entry.dims[dim], self.scope(family, rank))
        return found

    def is_alone(self, family: Family) -> bool:
        """Whether the output that a `rank0` bias is added to is not summed: every rank has the whole axis."""
        summed = family.summed
        return summed is not None and is_whole(self.splits_of(family)[summed])

    def scope(self, family: Family, rank: Coords) -> Scope:
        return Scope(family.scope.values, self.splits_of(family), rank)

    def part_shape(self, family: Family, part: StoredPart) -> tuple[int, ...]:
        """The full shape of a stored tensor; CutError (SHD213) where units do not come out whole."""
        return tuple(dim.size for dim in stored_dims(family, part))

    def part_at(self, family: Family, part: StoredPart, rank: Coords) -> tuple[Regions, ...]:
        """The rank's regions of a stored tensor; CutError (SHD212) where a unit would be cut."""
        return tuple(self.at(dim, rank) for dim in stored_dims(family, part))

    def at(self, dim: StoredDim, rank: Coords) -> Regions:
        """The rank's regions of a stored tensor's dim, in elements of it; CutError (SHD212)."""
        if dim.dim is None or not dim.over:
            return merge([(0, dim.size, 0)])
        regions = self.dim(dim.family, dim.dim, rank)
        return regions if dim.unit is None else in_entries(regions, dim.segments, *dim.ratio)

    def cut_everywhere(self, dim: StoredDim) -> list[Regions]:
        """The regions of a dim by rank; CutError where its units do not come out whole (SHD213) or are cut (SHD212)."""
        _ = dim.size
        dim.check_nested()
        return [self.at(dim, rank) for rank in self.ranks_of(dim)]

    def sizes_of(self, dim: StoredDim) -> tuple[int, ...]:
        """The sizes of the mesh dims that split a dim."""
        return tuple(self.mesh.get(over, 1) for over in dim.over)

    def ranks_of(self, dim: StoredDim) -> list[Coords]:
        """A rank for each coordinate on the mesh dims that split a dim."""
        coordinates = itertools.product(*map(range, self.sizes_of(dim)))
        return [dict(zip(dim.over, ranks, strict=True)) for ranks in coordinates]

    def kept(self, family: Family, names: tuple[str, ...], rank: Coords) -> tuple[str, ...]:
        """The names this rank keeps: all, or those of its elements of the axes that select names, if it is on."""
        if not is_on(family.entry.on, self.mesh, rank):
            return ()
        splits = self.splits_of(family)
        shares = {axis: self.share(family, axis, rank) for axis in family.selecting}
        cut = [axis for axis, share in shares.items() if share.real != splits[axis].size]
        if not cut:
            return names
        key = (id(family), *((axis, shares[axis]) for axis in cut))
        kept = self.bound.keeps.get(key)
        if kept is None:
            kept = self.bound.keeps[key] = list(range(len(names)))
            for axis in cut:
                share, elements = shares[axis], family.elements[axis]
                kept[:] = [i for i in kept if elements[i] in share]
        return tuple([names[i] for i in kept])

    def share(self, family: Family, axis: str, rank: Coords) -> Share:
        """The rank's part of an axis that a family mentions."""
        return self.splits_of(family)[axis].share(rank)

    def shards(self, rank: Coords) -> Iterator[Shard]:
        """Everything one rank keeps, in the order of the spec."""
        for family in self.families:
            for part in family.stored.parts:
                names = self.kept(family, part.names, rank)
                shape, at = self.part_shape(family, part), self.part_at(family, part, rank)
                yield Shard(family, part, names, shape, at, self._values(family, part, rank))

    def _values(self, family: Family, part: StoredPart, rank: Coords) -> tuple[int, ...] | None:
        """The local sizes of the weight that a stored tensor holds; None for one that holds elements."""
        if part.part is None or not part.part.values:
            return None
        dims = {"out": family.entry.out_dim or 0, "in": family.entry.in_dim or 0}
        return tuple(local_size(self.dim(family, dims[role], rank)) for role in part.part.values)
