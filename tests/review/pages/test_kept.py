"""Names by rank: experts and layers that are dealt by name, and tensors of a pipeline's ends."""

from __future__ import annotations

from shardc.plan.plan import Plan
from shardc.review.pages.kept import Kept, KeptNames
from tests.review.pages.reports import plan_of
from tests.support import plan

SPEC = """
spec: 1
name: t
architectures: [T]
dtype: BF16
axes:
  experts: {size: 6, over: ep, if_uneven: spread}
  layers: {size: 3, over: pp, if_uneven: spread}
groups:
  e:
    at: layers.{layer}.experts.{expert}
    for: {layer: layers, expert: experts}
    tensors: {up: {shape: [4], shard: expert_slices}}
  h: {only: {pp: last}, tensors: {head: {shape: [4], shard: replicated}}}
"""


def _kept(dealt: Plan) -> dict[str, Kept]:
    names = KeptNames()
    return {family.entry.group: names.of(dealt, family) for family in dealt.families}


def test_names_are_counted_by_coordinate_the_last_mesh_dim_fastest() -> None:
    kept = _kept(plan(SPEC, {}, {"tp": 2, "ep": 4, "pp": 2}))
    assert kept["e"] == Kept(("ep", "pp"), (4, 2), (4, 2, 4, 2, 2, 1, 2, 1))
    assert kept["e"].at({"tp": 1, "ep": 3, "pp": 0}) == 2
    assert kept["h"] == Kept(("pp",), (2,), (0, 1))


def test_a_mesh_dim_of_one_rank_deals_nothing() -> None:
    assert _kept(plan(SPEC, {}, {"tp": 2, "ep": 1, "pp": 1})) == {"e": Kept((), (), (18,)), "h": Kept((), (), (1,))}


def test_counts_are_those_of_the_plan_on_every_rank() -> None:
    loaded = plan_of("glm5_next", "glm-5.3-flash", tp=1, ep=4, pp=2)
    names = KeptNames()
    for rank in loaded.ranks():
        for family in loaded.families:
            part = family.stored.parts[0]
            assert names.of(loaded, family).at(rank) == len(loaded.kept(family, part.names, rank)), part.first
