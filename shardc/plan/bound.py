"""A spec bound to one config and one set of headers: everything that does not depend on the mesh."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from functools import cached_property
from math import lcm

from msgspec import Struct, field
from msgspec.structs import replace

from shardc.diagnostics import Diagnostic
from shardc.layout.errors import FormulaError
from shardc.layout.evaluate import condition, number
from shardc.layout.regions import Scope, size
from shardc.layout.split import Dealing, Split, deal, deal_within, granule_of_stride
from shardc.layout.strides import strides
from shardc.plan.built import Outputs, build
from shardc.plan.evidence import Evidence
from shardc.plan.families import MAX_TENSORS, Held, enumerate_names, tensor_count
from shardc.plan.family import Family
from shardc.plan.formula_findings import formula_findings
from shardc.plan.grid import Grid
from shardc.plan.kinds import axes_in, axes_of_dims
from shardc.plan.names import Names
from shardc.plan.region_limit import check_regions
from shardc.plan.resolved import Axis, Entry, Resolved
from shardc.plan.sized import weight_of
from shardc.plan.stored import Storage, stored
from shardc.plan.stored_dims import StoredDim, grouped
from shardc.plan.summed import inputs_of
from shardc.plan.symbols import Symbols, bind_symbols

#: An axis, and the indices that its size depends on: () for the axes of the spec itself.
AxisKey = tuple[str, tuple[tuple[str, int], ...]]


class Grain(Struct, frozen=True):
    """Why elements of an axis may not be cut apart: a tensor's format, in units of `unit` rows, `stride` an element."""

    axis: str
    granule: int
    unit: int
    stride: int
    format: str
    family: Family


class Bound(Struct, dict=True):
    """Values of symbols, families with their formats, and granules. `findings` are complete once it is made.

    `here` are the entries of which this config has tensors, be they in the file or not.
    `proved` and `cuttable` remember groups of dims, `buildable` outputs, `answers` contracts, `dealt` axes and `keeps`
    which names a rank keeps, over the meshes that are tried.
    """

    resolved: Resolved
    evidence: Evidence
    symbols: Symbols
    families: list[Family] = field(default_factory=list)
    here: list[Entry] = field(default_factory=list)
    absent: dict[str, str] = field(default_factory=dict)
    findings: list[Diagnostic] = field(default_factory=list)
    proved: set[Hashable] = field(default_factory=set)
    cuttable: set[Hashable] = field(default_factory=set)
    buildable: set[Hashable] = field(default_factory=set)
    answers: dict[Hashable, object] = field(default_factory=dict)
    dealt: dict[Hashable, Split] = field(default_factory=dict)
    keeps: dict[Hashable, list[int]] = field(default_factory=dict)

    @property
    def values(self) -> Mapping[str, object]:
        return self.symbols.values

    @cached_property
    def matched(self) -> set[Grid] | None:
        """The table's grids that the spec claims, where its own grids make up whole ones of them; None otherwise.

        Then nothing is missing, and nothing is claimed twice. A layer for multi-token prediction is often in one grid
        with the layers before it, while the spec has it in a group of its own.
        """
        table = self.evidence.grids
        held: dict[Grid, list[Grid]] = {}
        for part in (part for family in self.families for part in family.stored.parts):
            grid = part.grid
            holder = table.holder(grid) if table is not None and grid is not None and part.header is not None else None
            if grid is None or holder is None:
                return None
            held.setdefault(holder, []).append(grid)
        return set(held) if all(holder.made_of(grids) for holder, grids in held.items()) else None

    @cached_property
    def dims(self) -> list[list[StoredDim]]:
        """All dims of all stored tensors, those that are cut alike together."""
        return grouped(self.families)

    @cached_property
    def outputs(self) -> Outputs:
        """What the spec's outputs are built of."""
        return build(self.resolved.outputs, self.families, self.values)

    @cached_property
    def grains(self) -> list[Grain]:
        """Every format that asks for whole units of a root axis (one without a parent)."""
        return [grain for family in self.families for grain in _grains(family, self)]

    @cached_property
    def granules(self) -> Mapping[str, int]:
        """Granule of each root axis: the least common multiple of what formats ask for."""
        out: dict[str, int] = {}
        for grain in self.grains:
            out[grain.axis] = lcm(out.get(grain.axis, 1), grain.granule)
        return out

    def is_tied(self, entry: Entry) -> bool:
        """Whether this config lets the file lack the entry's tensor, being tied to another."""
        return entry.tie is not None and (entry.tie.when is None or condition(entry.tie.when, self.values))

    def axes_of(self, family: Family) -> Mapping[str, Axis]:
        return self.resolved.axes_of(family.entry)

    def split(self, axis: Axis, env: Mapping[str, int], ranks: int, parent: Split | None) -> Split:
        """The axis dealt to `ranks` ranks; SplitError or FormulaError if it can't be."""
        key = (axis.name, tuple(env.items()), ranks)
        if key not in self.dealt:
            elements = number(axis.size, {**self.values, **env})
            if parent is not None:
                self.dealt[key] = deal_within(axis.name, elements, parent)
            else:
                granule = lcm(axis.how.granule, self.granules.get(axis.name, 1))
                how = replace(axis.how, granule=granule)
                self.dealt[key] = deal(axis.name, elements, axis.over, ranks, how)
        return self.dealt[key]

    @cached_property
    def _splitting_groups(self) -> list[tuple[str, ...]]:
        """The mesh dims that split each group of dims."""
        return [group[0].over for group in self.dims]

    def groups_on(self, mesh: Mapping[str, int]) -> Iterator[tuple[tuple[int, ...], list[StoredDim]]]:
        """Each group of dims that are cut alike, with a key: equal ones are cut alike on several meshes."""
        for i, over in enumerate(self._splitting_groups):
            yield (i, *[mesh.get(mesh_dim, 1) for mesh_dim in over]), self.dims[i]

    @cached_property
    def placed(self) -> list[Family]:
        """One family for each way in which not every rank keeps names: an axis selects them, or `only` does."""
        ways = {
            (family.selecting, family.env_key, tuple(family.entry.on.items())): family
            for family in self.families
            if family.selecting or family.entry.on
        }
        return list(ways.values())

    @cached_property
    def summed_inputs(self) -> list[tuple[Family, str]]:
        """Each axis that splits the input of a layer whose output is summed, with a family that has it."""
        found: dict[AxisKey, tuple[Family, str]] = {}
        for family in self.families:
            for axis in inputs_of(family.entry, self.axes_of(family)):
                found.setdefault((axis, family.env_key), (family, axis))
        return list(found.values())


def bind(resolved: Resolved, evidence: Evidence) -> Bound:
    """Values, names and formats. Where a symbol has no value, what needs it is left out and only that is reported."""
    symbols = bind_symbols(resolved, evidence)
    bound = Bound(resolved, evidence, symbols)
    bound.findings += symbols.findings
    if symbols.findings:
        return bound
    failed: list[tuple[Entry, FormulaError]] = []
    tensors = 0
    held: Held = {}
    for entry in resolved.entries:
        try:
            tensors += tensor_count(entry, symbols.values)
            if tensors > MAX_TENSORS:
                message = f"with `{entry.pattern}` the spec stands for over {MAX_TENSORS:,} tensors"
                failed.append((entry, FormulaError("SHD112", message)))
                break
            every = [names for names in enumerate_names(entry, symbols.values, held) if names.count]
            bound.here += [entry] if every else []
            for names in every:
                _add(names, bound)
        except FormulaError as error:
            failed.append((entry, error))
    bound.findings += formula_findings(failed, resolved, symbols)
    return bound


def _add(names: Names, bound: Bound) -> None:
    names = _without_absent(names, bound)
    if not names.count:
        return
    scope = _whole_scope(names, bound)
    shape = tuple(size(dim, scope) for dim in names.entry.dims)
    check_regions(names, scope, bound.resolved.axes_of(names.entry))
    over = tuple(_splitting(names.entry, dim, bound) for dim in range(len(shape)))
    evidence = bound.evidence
    storage = Storage(weight_of(names.entry, shape), evidence.config, evidence.headers, evidence.grids)
    summed = bound.resolved.summed.get(names.entry.pattern)
    for way in stored(names, storage):
        bound.families.append(Family(names.entry, names.env, shape, over, way, scope, summed))


def _splitting(entry: Entry, dim: int, bound: Bound) -> tuple[str, ...]:
    axes = bound.resolved.axes_of(entry)
    if entry.rank0_dim == dim:
        summed = bound.resolved.summed.get(entry.pattern)
        return (axes[summed].over if summed else "tp",)
    return tuple(dict.fromkeys(axes[axis].over for axis in axes_in(entry.dims[dim], axes)))


def _without_absent(names: Names, bound: Bound) -> Names:
    """Leaves out optional and tied names that the file lacks; tied ones are remembered as aliases."""
    headers, entry = bound.evidence.headers, names.entry
    tied = bound.is_tied(entry)
    if not (entry.optional or tied) or (headers is None and not tied):
        return names
    here = [
        any(part.named(name) in headers for format in entry.formats for part in format.parts) or name in headers
        if headers is not None
        else not tied
        for name in names.names
    ]
    if all(here):
        return names
    if entry.tie is not None and tied:
        bound.absent |= {name: entry.tie.name for name, there in zip(names.names, here, strict=True) if not there}
    return names.picked([i for i, there in enumerate(here) if there])


def _whole_scope(names: Names, bound: Bound) -> Scope:
    """All axes undealt: a layout's full size."""
    splits: dict[str, Split] = {}
    axes = bound.resolved.axes_of(names.entry)
    used = axes_of_dims(names.entry.dims, axes)
    wanted = set(used)
    for axis in used:
        while (parent := axes[axis].within) is not None:
            wanted.add(parent)
            axis = parent
    values = {**bound.values, **names.env}
    for axis_name, axis_ in axes.items():
        if axis_name in wanted:
            elements = number(axis_.size, values)
            parent_split = splits.get(axis_.within) if axis_.within else None
            if parent_split is not None and parent_split.size and elements % parent_split.size == 0:
                splits[axis_name] = deal_within(axis_name, elements, parent_split)
            else:
                splits[axis_name] = deal(axis_name, elements, axis_.over, 1, Dealing())
    return Scope(values, splits)


def _grains(family: Family, bound: Bound) -> list[Grain]:
    axes = bound.axes_of(family)
    out = []
    for dim, expr in enumerate(family.entry.dims):
        role = family.role(dim)
        dims = [d for stored in family.stored.parts for d in (stored.part.dims if stored.part else ())]
        units = {d.unit for d in dims if isinstance(d.unit, int) and role and d.role == role and not d.whole}
        for axis in dict.fromkeys(axes_in(expr, axes)):
            for unit in sorted(units):
                for stride in strides(expr, axis, family.scope):
                    root, step = _root(axis, stride, axes, family.scope)
                    granule = granule_of_stride(unit, step)
                    if granule > 1:
                        out.append(Grain(root, granule, unit, step, family.stored.format.name, family))
    return out


def _root(axis: str, stride: int, axes: Mapping[str, Axis], scope: Scope) -> tuple[str, int]:
    """The axis without a parent that decides the split, and the rows of one of its elements."""
    while (parent := axes[axis].within) is not None:
        stride *= scope.splits[axis].group
        axis = parent
    return axis, stride
