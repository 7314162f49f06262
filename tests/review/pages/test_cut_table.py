"""Cuts: each once, and runs of alike regions as one."""

from __future__ import annotations

from shardc.review.by_rank import ByRank
from shardc.review.pages.cut_table import Cut, CutTable, PlanCuts, in_runs
from tests.review.pages.reports import plan_of
from tests.support import plan


def test_three_alike_regions_are_one_run() -> None:
    assert in_runs(((0, 4, 0), (16, 20, 0), (32, 36, 0), (50, 54, 0))) == [[0, 4, 0, 16, 3], [50, 54]]


def test_two_regions_are_written_out() -> None:
    assert in_runs(((0, 4, 0), (16, 20, 0))) == [[0, 4], [16, 20]]


def test_padding_ends_a_run() -> None:
    assert in_runs(((0, 4, 0), (8, 12, 0), (16, 20, 0), (24, 28, 2))) == [[0, 4, 0, 8, 3], [24, 28, 2]]
    assert in_runs(((0, 0, 5),)) == [[0, 0, 5]]


def test_regions_of_other_lengths_or_distances_are_no_run() -> None:
    assert in_runs(((0, 4, 0), (8, 12, 0), (16, 21, 0))) == [[0, 4], [8, 12], [16, 21]]
    assert in_runs(((0, 4, 0), (8, 12, 0), (17, 21, 0))) == [[0, 4], [8, 12], [17, 21]]


def test_regions_that_go_back_are_a_run_too() -> None:
    assert in_runs(((8, 9, 0), (4, 5, 0), (0, 1, 0))) == [[8, 9, 0, -4, 3]]


def test_a_table_has_each_cut_once() -> None:
    table = CutTable()
    cut = Cut(4, ByRank(("tp",), (2,), (((0, 2, 0),), ((2, 4, 0),))))
    assert [table.add(cut), table.add(Cut(4, ByRank((), (), (((0, 4, 0),),)))), table.add(cut)] == [0, 1, 0]
    assert table.data()[0] == {"n": 4, "o": ("tp",), "s": (2,), "r": [[[0, 2]], [[2, 4]]]}


def test_all_dims_of_llama_at_tp_8_are_cut_in_five_ways() -> None:
    """By vocab, heads, kv_heads and inter, and hidden not at all: 291 tensors."""
    loaded = plan_of("llama", "llama-3.1-8b", tp=8)
    table = CutTable()
    cuts = PlanCuts(loaded, table)
    for dim in (dim for group in loaded.bound.dims for dim in group):
        cuts.dim(dim)
    assert [cut["n"] for cut in table.data()] == [128256, 4096, 4096, 1024, 14336]


def test_an_axis_that_is_dealt_in_turn_has_runs() -> None:
    text = """
spec: 1
name: t
architectures: [T]
dtype: BF16
axes: {experts: {size: 8, placement: round_robin}}
groups: {g: {tensors: {w: {shape: [experts, 4], shard: expert_slices}}}}
"""
    dealt = plan(text, {}, {"tp": 2})
    table = CutTable()
    PlanCuts(dealt, table).axis(dealt.splits["experts", ()])
    assert table.data() == [{"n": 8, "o": ("tp",), "s": (2,), "r": [[[0, 1, 0, 2, 4]], [[1, 2, 0, 2, 4]]]}]
