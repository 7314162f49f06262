"""A bound spec and a mesh to a plan, or everything that stands in the way."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Set

from msgspec import Struct, field

from shardc.layout.errors import FormulaError, SplitError
from shardc.layout.evaluate import condition
from shardc.layout.regions import Scope, measure
from shardc.layout.split import Split
from shardc.layout.units import CutError
from shardc.plan.bound import AxisKey, Bound
from shardc.plan.built import Built
from shardc.plan.family import Family
from shardc.plan.output_ranks import cut_key, output_layouts
from shardc.plan.plan import Coords, Plan
from shardc.plan.resolved import Axis, Contract, Entry
from shardc.plan.row_moves import OutputError
from shardc.plan.stages import ranks_at
from shardc.plan.summed import is_whole
from shardc.source import Path_


class AxisFault(Struct, frozen=True):
    """An axis that can't be dealt; `axis` is the one that decides (the root where a child is at fault)."""

    axis: Axis
    env: Mapping[str, int]
    error: SplitError | FormulaError


class CutFault(Struct, frozen=True):
    """A stored tensor whose units would be cut, or do not come out whole; `over` are the mesh dims that split it."""

    family: Family
    name: str
    dim: int
    over: tuple[str, ...]
    error: CutError


class ContractFault(Struct, frozen=True):
    """A contract that does not hold on a rank. `values` are its parameters there; an `error` says why it has none.

    `rank` has the mesh dims that the contract is over.
    """

    contract: Contract
    values: Mapping[str, int]
    rank: Coords
    error: FormulaError | None = None


class TieFault(Struct, frozen=True):
    """A tensor that the file lacks, on a rank (of the `size` of `over`) that does not have the one it is tied to."""

    entry: Entry
    twin: Entry
    over: str
    rank: int
    size: int

    @property
    def message(self) -> str:
        where = f"{self.over} rank {self.rank} of {self.size}"
        return f"{self.entry.pattern} is tied to {self.twin.pattern}, which {where} does not have"


class OutputFault(Struct, frozen=True):
    """An output that the ranks of this mesh can't build; `name` is of its part at fault."""

    built: Built
    name: str
    error: OutputError


class ContractHolds(Struct, frozen=True):
    """A contract that holds, with its parameters on the first rank."""

    contract: Contract
    values: Mapping[str, int]


class Compiled(Struct):
    """The plan, if there is one, and every fault. `dealt` has the axes that can be dealt, whether or not all can."""

    plan: Plan | None
    axes: list[AxisFault] = field(default_factory=list)
    cuts: list[CutFault] = field(default_factory=list)
    contracts: list[ContractFault] = field(default_factory=list)
    ties: list[TieFault] = field(default_factory=list)
    outputs: list[OutputFault] = field(default_factory=list)
    holds: list[ContractHolds] = field(default_factory=list)
    dealt: Mapping[AxisKey, Split] = field(default_factory=dict)

    @property
    def asked(self) -> Mapping[Path_, tuple[bool, Mapping[str, int]]]:
        """For each contract that is meant, by its path: whether it holds, and its parameters."""
        broken = {one.contract.path: (False, one.values) for one in self.contracts}
        return broken | {one.contract.path: (True, one.values) for one in self.holds}

    @property
    def ok(self) -> bool:
        faults = self.axes or self.cuts or self.contracts or self.ties or self.outputs
        return self.plan is not None and not faults


def compile_plan(bound: Bound, mesh: Mapping[str, int]) -> Compiled:
    """Deal every axis, try every cut, ask every contract on every rank."""
    out = Compiled(None)
    out.dealt = _deal(bound, mesh, out)
    if out.axes:
        return out
    out.plan = Plan(bound, mesh, out.dealt)
    out.axes += _summed_twice(out.plan)
    _try_cuts(out.plan, out)
    if not out.cuts:
        _try_outputs(out.plan, out)
    _ask_contracts(out.plan, out)
    out.ties += _parted_ties(bound, mesh)
    return out


def _deal(bound: Bound, mesh: Mapping[str, int], out: Compiled) -> dict[AxisKey, Split]:
    splits: dict[AxisKey, Split] = {}
    failed: set[AxisKey] = set()

    def deal(axis: Axis, env: Mapping[str, int], env_key: tuple[tuple[str, int], ...]) -> None:
        key = (axis.name, env_key)
        parent = _parent_key(axis, env_key, splits.keys() | failed)
        if parent in failed:
            failed.add(key)
            return
        try:
            splits[key] = bound.split(axis, env, mesh.get(axis.over, 1), splits[parent] if parent else None)
        except (SplitError, FormulaError) as error:
            failed.add(key)
            out.axes.append(AxisFault(axis, env, error))

    for axis in bound.resolved.axes.values():
        deal(axis, {}, ())
    for family in bound.families:
        env_key = family.env_key
        for axis in family.entry.axes.values():
            if (axis.name, env_key) not in splits and (axis.name, env_key) not in failed:
                deal(axis, family.env, env_key)
    return splits


def _summed_twice(plan: Plan) -> Iterator[AxisFault]:
    """Axes of which several ranks hold each part, though not all, and whose ranks' outputs a layer sums."""
    seen: set[AxisKey] = set()
    for family, name in plan.bound.summed_inputs:
        split = plan.splits_of(family)[name]
        env = family.env if name in family.entry.axes else {}
        key = (name, tuple(env.items()))
        if split.replicas > 1 and not is_whole(split) and key not in seen:
            seen.add(key)
            text = f"{split.size} {name} are on {split.replicas} {split.over} ranks each"
            message = f"{text}, so a sum over {split.over} counts each of them {split.replicas} times"
            yield AxisFault(plan.bound.axes_of(family)[name], env, SplitError("SHD206", name, message, text))


def _parent_key(axis: Axis, env: tuple[tuple[str, int], ...], known: Set[AxisKey]) -> AxisKey | None:
    """The key of the parent: an axis of the same group, or one of the spec."""
    if axis.within is None:
        return None
    return (axis.within, env) if (axis.within, env) in known else (axis.within, ())


def _try_cuts(plan: Plan, out: Compiled) -> None:
    """One dim of each group that is cut alike, on each rank; where it fails, all of its group fail."""
    tried = plan.bound.cuttable
    for key, group in plan.bound.groups_on(plan.mesh):
        dim = group[0]
        if dim.unit is None or key in tried:
            continue
        try:
            plan.cut_everywhere(dim)
            tried.add(key)
        except CutError as error:
            out.cuts += [CutFault(one.family, one.part.first, one.i, one.over, error) for one in group]


def _parted_ties(bound: Bound, mesh: Mapping[str, int]) -> Iterator[TieFault]:
    """Tensors that are absent, tied to one that `only` keeps from some of their ranks; the first such rank of each."""
    if not bound.absent:
        return
    tied = {entry.pattern: entry for entry in bound.resolved.entries if entry.tie is not None}
    there = {family.entry.pattern: family.entry for family in bound.families}
    for name, twin_name in bound.absent.items():
        entry, twin = tied.get(name), there.get(twin_name)
        if entry is None or twin is None:
            continue
        for over, ends in twin.on.items():
            size = mesh.get(over, 1)
            wanted = ranks_at(entry.on[over], size) if over in entry.on else set(range(size))
            for rank in sorted(wanted - ranks_at(ends, size))[:1]:
                yield TieFault(entry, twin, over, rank, size)


def _try_outputs(plan: Plan, out: Compiled) -> None:
    """Every output, on a rank for each way in which it may be cut."""
    for built in plan.bound.outputs.built:
        key = cut_key(plan, built)
        if key in plan.bound.buildable:
            continue
        for part in range(built.parts):
            try:
                for _ in output_layouts(plan, built, part):
                    pass
            except OutputError as error:
                stored = built.families[0].stored.parts[part].part
                first = built.builds[0].name
                out.outputs.append(OutputFault(built, stored.named(first) if stored else first, error))
                break
        else:
            plan.bound.buildable.add(key)


def _ask_contracts(plan: Plan, out: Compiled) -> None:
    for contract in plan.bound.resolved.contracts:
        key = (contract.path, *(plan.mesh.get(dim, 1) for dim in contract.over))
        if key not in plan.bound.answers:
            plan.bound.answers[key] = _ask(plan, contract)
        answer = plan.bound.answers[key]
        if isinstance(answer, ContractFault):
            out.contracts.append(answer)
        elif isinstance(answer, ContractHolds):
            out.holds.append(answer)


def _ask(plan: Plan, contract: Contract) -> ContractFault | ContractHolds | None:
    """The contract on every rank: the first on which it does not hold, or that it holds. None: it is not meant."""
    splits = {name: split for (name, env), split in plan.splits.items() if not env}
    rank = dict.fromkeys(contract.over, 0)
    first: Mapping[str, int] = {}
    try:
        if contract.when is not None and not condition(contract.when, plan.bound.values):
            return None
        for at in itertools.product(*(range(plan.mesh.get(dim, 1)) for dim in contract.over)):
            rank = dict(zip(contract.over, at, strict=True))
            scope = Scope(plan.bound.values, splits, rank)
            given = {name: measure(expr, scope) for name, expr in contract.given.items()}
            if not condition(contract.require, given):
                return ContractFault(contract, given, rank)
            first = first or given
    except FormulaError as error:
        return ContractFault(contract, {}, rank, error)
    return ContractHolds(contract, first)
