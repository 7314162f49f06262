"""How the stored tensors of a bound spec are cut on one mesh after another; dims that are cut alike are cut once."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from functools import cached_property

from msgspec import Struct, field

from shardc.layout.regions import Regions, local_size
from shardc.layout.units import CutError
from shardc.plan.bound import AxisKey, Bound
from shardc.plan.compile import Compiled, compile_plan
from shardc.plan.family import Family
from shardc.plan.kinds import axes_of_dims
from shardc.plan.multiplicity import multiplicity, rows_held
from shardc.plan.plan import Plan
from shardc.plan.stored import StoredPart
from shardc.plan.stored_dims import StoredDim
from shardc.review.sheets.words import in_equal_blocks, is_whole, words


class Cut(Struct, frozen=True, eq=False, dict=True):
    """A dim of a stored tensor on the ranks of the mesh dims that split it, as `Plan.ranks_of` counts them."""

    dim: StoredDim
    size: int
    by_rank: tuple[Regions, ...]

    @cached_property
    def locals(self) -> tuple[int, ...]:
        """How long the dim is on each rank, padding included."""
        return tuple(map(local_size, self.by_rank))

    @cached_property
    def length(self) -> str:
        """`128`; `21..22` where ranks differ."""
        least, most = min(self.locals), max(self.locals)
        return str(least) if least == most else f"{least}..{most}"

    @cached_property
    def rows(self) -> tuple[int, ...]:
        """How many rows of the file each rank has."""
        return tuple(sum(stop - start for start, stop, _ in regions) for regions in self.by_rank)

    @cached_property
    def rows_alone(self) -> int:
        """How many rows of rank 0 no other rank has."""
        return rows_held(self.by_rank[0], multiplicity(self.by_rank, self.size), 1)

    @cached_property
    def is_plain(self) -> bool:
        """Whether its local size says it all: every rank has the whole dim, or the r-th of equal blocks."""
        return is_whole(self.by_rank, self.size) or in_equal_blocks(self.by_rank, self.size)

    @cached_property
    def words(self) -> str:
        return words(self.by_rank)


class OnMesh(Struct, frozen=True, eq=False):
    """The spec on one mesh. `plan` has the axes that can be dealt, whether or not the mesh works; `codes` say why not.

    `known` remembers the cuts of stored tensors.
    """

    mesh: Mapping[str, int]
    compiled: Compiled
    plan: Plan
    codes: Mapping[AxisKey, str]
    known: dict[int, list[Cut] | str] = field(default_factory=dict)

    @property
    def works(self) -> bool:
        return self.compiled.ok


class Cuts:
    """The cuts of a bound spec, on any number of meshes."""

    def __init__(self, bound: Bound, compiled: Iterable[Compiled] = ()) -> None:
        """`compiled` are plans of the bound spec that there are already."""
        self.bound = bound
        first: dict[Hashable, int] = {}
        numbers = [first.setdefault(_alike(group[0]), i) for i, group in enumerate(bound.dims)]
        self._group = {(id(dim.part), dim.i): i for i, group in zip(numbers, bound.dims, strict=True) for dim in group}
        self._dims: dict[int, list[StoredDim]] = {}
        for group in bound.dims:
            for dim in group:
                self._dims.setdefault(id(dim.part), []).append(dim)
        for dims in self._dims.values():
            dims.sort(key=lambda dim: dim.i)
        self._cuts: dict[Hashable, Cut | str] = {}
        self._compiled = {tuple(one.plan.mesh.items()): one for one in compiled if one.plan is not None}
        self._meshes: dict[Hashable, OnMesh] = {}

    def on(self, mesh: Mapping[str, int]) -> OnMesh:
        """The spec compiled for a mesh, which gives a size for every mesh dim."""
        key = tuple(mesh.items())
        if key not in self._meshes:
            compiled = self._compiled.get(key) or compile_plan(self.bound, mesh)
            codes = {(fault.axis.name, tuple(fault.env.items())): fault.error.code for fault in compiled.axes}
            plan = compiled.plan or Plan(self.bound, mesh, compiled.dealt)
            self._meshes[key] = OnMesh(mesh, compiled, plan, codes)
        return self._meshes[key]

    def dims(self, part: StoredPart) -> list[StoredDim]:
        return self._dims.get(id(part), [])

    def cut(self, family: Family, part: StoredPart, on: OnMesh) -> list[Cut]:
        """The dims of a stored tensor on a mesh that works."""
        cut = self.of(family, part, on)
        assert not isinstance(cut, str)
        return cut

    def of(self, family: Family, part: StoredPart, on: OnMesh) -> list[Cut] | str:
        """The dims of a stored tensor; a code where one of them can't be cut, `-` where that can't be told."""
        found = on.known.get(id(part))
        if found is None:
            found = on.known[id(part)] = self._fault(family, on) or self._dims_of(part, on)
        return found

    def _dims_of(self, part: StoredPart, on: OnMesh) -> list[Cut] | str:
        out: list[Cut] = []
        for dim in self.dims(part):
            cut = self._cut(dim, on)
            if isinstance(cut, str):
                return cut
            out.append(cut)
        return out

    def _cut(self, dim: StoredDim, on: OnMesh) -> Cut | str:
        over = dim.over
        key = self._group[id(dim.part), dim.i], on.plan.sizes_of(dim) if over else ()
        if key not in self._cuts:
            try:
                self._cuts[key] = Cut(dim, dim.size, tuple(on.plan.cut_everywhere(dim)))
            except CutError as error:
                self._cuts[key] = error.code
        return self._cuts[key]

    def _fault(self, family: Family, on: OnMesh) -> str | None:
        """Why the axes that a family mentions can't be dealt; None where they are."""
        if not on.codes:
            return None
        axes = self.bound.axes_of(family)
        mentioned = axes_of_dims(family.entry.dims, axes) | {*family.selecting, *filter(None, [family.summed])}
        env = family.env_key
        for name in (name for name in axes if name in mentioned):
            axis: str | None = name
            while axis is not None:
                code = on.codes.get((axis, env)) or on.codes.get((axis, ()))
                if code is not None:
                    return code
                axis = axes[axis].within
        own = ((axis, env) for axis in family.entry.axes)
        return None if all(key in on.plan.splits for key in own) else "-"


def _alike(dim: StoredDim) -> Hashable:
    """Equal for dims that are cut alike; by what their formulas say, so that q and k may be."""
    family = dim.family
    if dim.dim is None or family.entry.axes:
        return dim.alike
    rank0 = family.entry.rank0_dim == dim.dim and (family.summed or "tp")
    return family.entry.dims[dim.dim], family.env_key, family.shape[dim.dim], dim.unit, rank0


def named(mesh: Mapping[str, int]) -> str:
    """`tp=8, ep=4`; mesh dims of one rank go without saying."""
    return ", ".join(f"{dim}={n}" for dim, n in mesh.items() if n > 1) or "tp=1"
