"""What every rank keeps: regions, stored parts, names."""

from __future__ import annotations

import pytest

from shardc.plan.plan import Coords, Plan, Shard
from tests.plan.support import PIPELINE_CONFIG, example, pipeline, spec
from tests.support import plan


def shard(one: Plan, name: str, rank: Coords) -> Shard:
    """The shard whose part holds a tensor of this name in the file."""
    return next(s for s in one.shards(rank) if name in s.part.names)


def test_ranks_count_tp_first() -> None:
    assert list(example(2, 2).ranks()) == [
        {"ep": 0, "tp": 0},
        {"ep": 0, "tp": 1},
        {"ep": 1, "tp": 0},
        {"ep": 1, "tp": 1},
    ]


@pytest.mark.parametrize(
    ("name", "rank", "at"),
    [
        ("embed.weight", 0, (((0, 8, 0),), ((0, 4, 0),))),
        ("embed.weight", 1, (((8, 10, 6),), ((0, 4, 0),))),
        ("layers.1.norm.weight", 1, (((0, 4, 0),),)),
        # Rows 0..16 are q, 16..24 k: rank 1 has the second half of each.
        ("layers.0.qk.weight", 1, (((8, 16, 0), (20, 24, 0)), ((0, 4, 0),))),
        ("layers.0.o.weight", 1, (((0, 4, 0),), ((8, 16, 0),))),
        ("layers.0.o.bias", 0, (((0, 4, 0),),)),
        ("layers.0.o.bias", 1, (((0, 0, 4),),)),
    ],
)
def test_regions(name: str, rank: int, at: tuple[object, ...]) -> None:
    assert shard(example(2), name, {"tp": rank}).at == at


def test_ranks_that_share_a_kv_head_have_a_part_of_its_heads_each() -> None:
    one = example(4)
    qk = [shard(one, "layers.0.qk.weight", {"tp": rank}).at[0] for rank in range(4)]
    assert qk == [
        ((0, 4, 0), (16, 20, 0)),
        ((4, 8, 0), (16, 20, 0)),
        ((8, 12, 0), (20, 24, 0)),
        ((12, 16, 0), (20, 24, 0)),
    ]


def test_shapes_and_bytes_of_a_shard() -> None:
    embed = shard(example(2), "embed.weight", {"tp": 1})
    assert (embed.shape, embed.local_shape) == ((10, 4), (8, 4))
    assert (embed.full_bytes, embed.local_bytes, embed.padding_bytes) == (80, 64, 48)
    norm = shard(example(2), "layers.0.norm.weight", {"tp": 1})
    assert (norm.full_bytes, norm.local_bytes, norm.padding_bytes) == (16, 8, 0)


def test_a_rank_keeps_its_experts_and_all_other_names() -> None:
    one = example(2, 2)
    kept = {s.part.names[0]: (len(s.names), s.names[0]) for s in one.shards({"tp": 0, "ep": 1})}
    assert kept == {
        "embed.weight": (1, "embed.weight"),
        "layers.0.norm.weight": (2, "layers.0.norm.weight"),
        "layers.0.qk.weight": (2, "layers.0.qk.weight"),
        "layers.0.o.weight": (2, "layers.0.o.weight"),
        "layers.0.o.bias": (2, "layers.0.o.bias"),
        "layers.0.experts.0.up.weight": (4, "layers.0.experts.2.up.weight"),
        "layers.0.experts.0.up.weight_scale": (4, "layers.0.experts.2.up.weight_scale"),
        "layers.0.experts.0.up.weight_scale_2": (4, "layers.0.experts.2.up.weight_scale_2"),
    }


@pytest.mark.parametrize(
    ("ep", "rank", "experts"),
    [(1, 0, "01230123"), (2, 0, "0101"), (2, 1, "2323"), (4, 0, "00"), (4, 3, "33")],
)
def test_names_over_ep(ep: int, rank: int, experts: str) -> None:
    names = shard(example(1, ep), "layers.0.experts.0.up.weight", {"ep": rank}).names
    assert "".join(name.split(".")[3] for name in names) == experts


def test_every_expert_is_kept_by_one_rank() -> None:
    one = example(2, 4)
    kept = [n for rank in range(4) for n in shard(one, "layers.0.experts.0.up.weight", {"ep": rank}).names]
    assert sorted(kept) == [f"layers.{layer}.experts.{expert}.up.weight" for layer in (0, 1) for expert in range(4)]


def test_experts_dealt_unevenly_and_names_on_two_mesh_dims() -> None:
    text = spec("""\
    axes:
      experts: {size: 5, over: ep, if_uneven: spread}
      slabs: {size: 2}
    groups:
      all:
        at: "{expert}.{slab}"
        for: {expert: experts, slab: slabs}
        tensors: {w: {shape: [3], shard: expert_slices}}
    """)
    one = plan(text, {}, {"tp": 2, "ep": 2})
    [family] = one.families
    assert one.kept(family, family.names, {"tp": 1, "ep": 0}) == ("0.1.w", "1.1.w", "2.1.w")
    assert one.kept(family, family.names, {"tp": 0, "ep": 1}) == ("3.0.w", "4.0.w")


def test_parts_of_a_format() -> None:
    text = spec("""\
    axes: {heads: {size: 4}}
    groups:
      all:
        tensors:
          q.weight: {shape: [heads * 64 | 100, 64], shard: segmented_rows, formats: [fp8_block]}
          o.weight: {shape: [32, heads * 64], shard: channel_cols, formats: [nvfp4]}
    """)
    one = plan(text, {}, {"tp": 2})
    parts = [(s.part.names[0], s.shape, s.at, s.kind) for s in one.shards({"tp": 1})]
    assert parts == [
        ("q.weight", (356, 64), (((128, 356, 0),), ((0, 64, 0),)), "segmented_rows"),
        # 256 rows are 2 blocks, 100 one more: rank 1 has the second and the last.
        ("q.weight_scale_inv", (3, 1), (((1, 3, 0),), ((0, 1, 0),)), "segmented_rows"),
        ("o.weight", (32, 128), (((0, 32, 0),), ((64, 128, 0),)), "channel_cols"),
        ("o.weight_scale", (32, 16), (((0, 32, 0),), ((8, 16, 0),)), "channel_cols"),
        ("o.weight_scale_2", (), (), "replicated"),
    ]


def test_sizes_and_ranks_of_a_dim() -> None:
    one = example(2, 4)
    by_name = {dim.part.names[0]: dim for group in one.bound.dims for dim in group if dim.i == 0}
    assert one.sizes_of(by_name["embed.weight"]) == (2,)
    assert one.ranks_of(by_name["embed.weight"]) == [{"tp": 0}, {"tp": 1}]
    assert one.ranks_of(by_name["layers.0.norm.weight"]) == [{}]


def test_the_split_of_a_layer() -> None:
    text = spec("""\
    config: {widths: widths}
    groups:
      all:
        at: "{layer}"
        for: {layer: 2}
        axes: {inter: {size: "widths[layer]"}}
        tensors: {up.weight: {shape: [inter, 4], shard: column_parallel}}
    """)
    one = plan(text, {"widths": [8, 12]}, {"tp": 2})
    assert [s.at[0] for s in one.shards({"tp": 1})] == [((4, 8, 0),), ((6, 12, 0),)]
    assert [one.share(family, "inter", {"tp": 1}).start for family in one.families] == [4, 6]


def stage(rank: Coords, **mesh: int) -> dict[str, tuple[object, ...]]:
    """What a rank of the pipeline keeps: the regions of each tensor."""
    one = plan(pipeline(), PIPELINE_CONFIG, {"tp": 1, "attn_tp": 1, "ep": 1, "pp": 1, **mesh})
    return {name: shard.at for shard in one.shards(rank) for name in shard.names}


def test_the_order_of_ranks_is_that_of_world_ranks() -> None:
    """tp fastest, pp slowest, the others by their names; whatever the order in which the mesh is given."""
    one = plan(pipeline(), PIPELINE_CONFIG, {"pp": 2, "ep": 2, "attn_tp": 2, "tp": 2})
    ranks = list(one.ranks())
    assert len(ranks) == 16
    assert [ranks[world] for world in (1, 2, 4, 8, 13)] == [
        {"pp": 0, "ep": 0, "attn_tp": 0, "tp": 1},
        {"pp": 0, "ep": 0, "attn_tp": 1, "tp": 0},
        {"pp": 0, "ep": 1, "attn_tp": 0, "tp": 0},
        {"pp": 1, "ep": 0, "attn_tp": 0, "tp": 0},
        {"pp": 1, "ep": 1, "attn_tp": 0, "tp": 1},
    ]


def test_layers_by_stage() -> None:
    """5 layers on 3 stages are 0 and 1, 2 and 3, 4; the first two are dense."""
    kept = [stage({"pp": rank}, pp=3) for rank in range(3)]
    layers = [sorted({name.split(".")[1] for name in names if name.startswith("layers")}) for names in kept]
    assert layers == [["0", "1"], ["2", "3"], ["4"]]
    dense = [[name for name in names if name.count(".") == 3 and "up" in name] for names in kept]
    assert dense == [["layers.0.up.weight", "layers.1.up.weight"], [], []]
    ends = [[name for name in names if not name.startswith("layers")] for names in kept]
    assert ends == [["embed.weight"], [], ["embed.weight", "norm.weight"]]


def test_experts_by_stage_and_round_robin() -> None:
    """Rank 0 of ep has experts 0, 2 and 4, rank 1 has 1 and 3: as names and as rows."""
    kept = stage({"pp": 1, "ep": 1, "tp": 1}, pp=2, ep=2, tp=2)
    assert [name for name in kept if ".experts." in name] == [
        "layers.3.experts.1.up.weight",
        "layers.3.experts.3.up.weight",
        "layers.4.experts.1.up.weight",
        "layers.4.experts.3.up.weight",
        "layers.3.experts.down",
        "layers.4.experts.down",
    ]
    assert kept["layers.4.experts.down"] == (((1, 2, 0), (3, 4, 0)), ((3, 6, 0),), ((0, 4, 0),))
    first = stage({"pp": 1, "ep": 0, "tp": 1}, pp=2, ep=2, tp=2)
    assert first["layers.4.experts.down"][0] == ((0, 1, 0), (2, 3, 0), (4, 5, 0))
    assert [name.split(".")[3] for name in first if name.startswith("layers.3.experts") and "up" in name] == [
        "0",
        "2",
        "4",
    ]


def test_each_mesh_dim_splits_its_own() -> None:
    kept = stage({"attn_tp": 3, "tp": 1, "pp": 0}, attn_tp=4, tp=3, pp=2)
    assert kept["layers.0.o.weight"] == (((0, 4, 0),), ((12, 16, 0),))
    assert kept["layers.0.up.weight"] == (((2, 4, 0),), ((0, 4, 0),))
    assert kept["embed.weight"] == (((8, 10, 6),), ((0, 4, 0),))


def test_on_one_rank_nothing_changes() -> None:
    names = list(stage({}))
    assert len(names) == 1 + 1 + 5 + 2 + 3 * 5 + 3
    assert stage({})["layers.4.experts.down"] == (((0, 5, 0),), ((0, 6, 0),), ((0, 4, 0),))
