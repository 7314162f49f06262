"""Outputs of random members: row by row what their words mean, by the interpreter and by the generated module."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType

import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from shardc.plan.bound import bind
from shardc.plan.compile import compile_plan
from shardc.plan.evidence import Evidence
from shardc.plan.output_ranks import outputs
from shardc.plan.plan import Plan
from shardc.plan.proof import prove
from tests import support
from tests.laws.oracle import rows
from tests.laws.specs import Axis, axes, layouts, meshes
from tests.laws.test_generated import ranks
from tests.outputs.built import assemble

#: A row of a member, by its number, or None for a row of zeros.
Row = tuple[int, int] | None
#: Granules as they are written before and after, and the order of their rows.
GRANULES = [
    ("2 * 3", "3 * 2", (0, 3, 1, 4, 2, 5)),
    ("(2 | 3)", "(3 | 2)", (2, 3, 4, 0, 1)),
    ("(1 | 2 * 3)", "(3 * 2 | 1)", (1, 4, 2, 5, 3, 6, 0)),
    ("2 * (1 | 3)", "(2 * 1 | 2 * 3)", (0, 4, 1, 2, 3, 5, 6, 7)),
]


@dataclass(frozen=True)
class Built:
    """A spec with one output of the tensors m0, m1, …; `form` has the axis of an interleaving, `order` a granule's rows."""

    text: str
    mesh: Mapping[str, int]
    form: str
    order: tuple[int, ...] = ()


def spec(declared: list[Axis], shapes: list[str], output: Mapping[str, object]) -> str:
    head = ["spec: 1", "name: law", "architectures: [Law]", "dtype: F32", "axes:"]
    lines = [*head, *(f"  {axis.name}: {axis.line}" for axis in declared), "groups:", "  a:", "    tensors:"]
    fields = ({"shape": [shape, 2], "shard": "replicated"} for shape in shapes)
    lines += [f"      m{i}: {json.dumps(field)}" for i, field in enumerate(fields)]
    return "\n".join([*lines, f"    outputs: {json.dumps({'out': output})}"]) + "\n"


@st.composite
def concatenations(draw: st.DrawFn) -> Built:
    mesh = draw(meshes())
    declared = draw(axes(mesh, scale=1))
    shapes = [draw(layouts(declared, frozenset({"tp"}))).text for _ in range(draw(st.integers(1, 3)))]
    return Built(spec(declared, shapes, {"concat": [f"m{i}" for i in range(len(shapes))]}), mesh, "concat")


@st.composite
def interleavings(draw: st.DrawFn) -> Built:
    """Members of an axis, of those within it, or of both."""
    mesh = draw(meshes())
    declared = draw(axes(mesh, scale=1))
    by = draw(st.sampled_from(declared))
    within = {by.name}
    for axis in declared:
        within |= {axis.name} if axis.parent in within else set()
    each = tuple(draw(st.integers(1, 3)) for _ in range(2))
    own = [draw(st.sampled_from(sorted(within))) for _ in each]
    shapes = [f"{axis} * {rows}" for axis, rows in zip(own, each, strict=True)]
    return Built(spec(declared, shapes, {"interleave": ["m0", "m1"], "by": by.name}), mesh, by.name)


@st.composite
def permutations(draw: st.DrawFn) -> Built:
    mesh = draw(meshes())
    declared = draw(axes(mesh, scale=1))
    before, after, order = draw(st.sampled_from(GRANULES))
    around = draw(st.sampled_from([axis.name for axis in declared] + ["2 * " + declared[0].name, "4"]))
    member = {"permute": "m0", "from": f"{around} * {before}", "to": f"{around} * {after}"}
    return Built(spec(declared, [f"{around} * {len(order)}"], member), mesh, after, order)


@dataclass(frozen=True)
class OnRank:
    """The plan and the module of a case, on one of its ranks."""

    plan: Plan
    module: ModuleType
    rank: Mapping[str, int]

    @property
    def members(self) -> list[list[Row]]:
        """The local rows of each member, in order."""
        at = [self.plan.dim(family, 0, self.rank) for family in self.plan.families]
        return [[None if row is None else (i, row) for row in rows(regions)] for i, regions in enumerate(at)]

    def builds(self, expected: list[Row]) -> None:
        """Both programs build these rows."""
        full = {
            f"m{i}": torch.arange(2.0 * family.shape[0]).reshape(-1, 2) + 1000 * i + 1
            for i, family in enumerate(self.plan.families)
        }
        zeros = torch.zeros(2)
        built = [zeros if row is None else full[f"m{row[0]}"][row[1]] for row in expected]
        truth = torch.stack(built) if built else torch.zeros(0, 2)
        [output] = outputs(self.plan, self.rank)
        assert torch.equal(assemble(output, full), truth)
        mesh = {dim: (at, self.plan.mesh[dim]) for dim, at in self.rank.items()}
        assert torch.equal(self.module.shard_tensors(full, {}, mesh=mesh)["out"], truth)


@settings(max_examples=40)
@given(concatenations())
def test_concat(case: Built) -> None:
    for here in each_rank(case):
        here.builds([row for member in here.members for row in member])


@settings(max_examples=40)
@given(interleavings())
def test_interleave(case: Built) -> None:
    for here in each_rank(case):
        elements = here.plan.splits[case.form, ()].share(here.rank).local
        each = [len(member) // elements if elements else 0 for member in here.members]
        blocks = [
            member[e * n : (e + 1) * n] for e in range(elements) for member, n in zip(here.members, each, strict=True)
        ]
        here.builds([row for block in blocks for row in block])


@settings(max_examples=40)
@given(permutations())
def test_permute(case: Built) -> None:
    for here in each_rank(case):
        [at] = here.members
        here.builds([at[granule + row] for granule in range(0, len(at), len(case.order)) for row in case.order])


def each_rank(case: Built) -> Iterator[OnRank]:
    """Some ranks of the case; a mesh on which it has no plan is passed over."""
    spec = support.resolved(case.text)
    mesh = {dim: case.mesh[dim] for dim in spec.mesh_dims}
    compiled = compile_plan(bind(spec, Evidence("config.json", {})), mesh)
    assume(compiled.ok)
    plan = compiled.plan
    assert plan is not None and not plan.bound.findings and not plan.bound.outputs.faults
    assume(all(size <= 300 for family in plan.families for size in family.shape))
    prove(plan)
    with TemporaryDirectory() as folder:
        module = support.generated(spec, Path(folder))
        every = list(ranks(mesh))
        for rank in every[:2] + every[2:][-2:]:
            yield OnRank(plan, module, rank)
