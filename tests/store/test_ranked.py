"""Whole tensors from ranks that share some of them; and manifests that say what is not so."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import shardc.runtime as rt
from shardc.runtime.manifests import RankLayout
from shardc.store.ranked import Ranked, regions_of


def edit(folder: Path, rank: int, change: Callable[[Any], object]) -> None:
    path = folder / "cut" / f"rank-{rank}" / "rank.json"
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(data))


def test_regions_that_partly_overlap() -> None:
    """Rank 0 has rows 0..6 in one run, rank 1 rows 4..8 behind two rows of padding."""
    one, other = RankLayout((8,), (((0, 6, 0),),)), RankLayout((8,), (((0, 0, 2), (4, 8, 0)),))
    assert regions_of({"a": one, "b": other}) == {
        ((0, 4),): [("a", ((0, 4),))],
        ((4, 6),): [("a", ((4, 6),)), ("b", ((2, 4),))],
        ((6, 8),): [("b", ((4, 6),))],
    }


def test_a_scalar_is_one_region() -> None:
    layout = RankLayout((), ())
    assert regions_of({"a": layout, "b": layout}) == {(): [("a", ()), ("b", ())]}


def test_who_has_what(made: Path) -> None:
    ranked = Ranked(made / "cut")
    assert ranked.ranks == 4
    assert list(ranked.manifests) == ["rank-0", "rank-1", "rank-2", "rank-3", "ignored"]
    assert [(patch.folder, patch.to[0]) for patch in ranked.patches("embed.weight")] == [
        ("rank-0", (0, 3)), ("rank-1", (3, 6)), ("rank-2", (6, 9)), ("rank-3", (9, 10)),
    ]  # fmt: skip
    assert [patch.folder for patch in ranked.patches("norm.weight")] == ["rank-0"]
    assert [patch.folder for patch in ranked.replicas("norm.weight")] == ["rank-1", "rank-2", "rank-3"]
    assert [(patch.folder, patch.to[0]) for patch in ranked.replicas("qkv.weight")] == [
        ("rank-1", (24, 27)), ("rank-1", (30, 33)), ("rank-3", (27, 30)), ("rank-3", (33, 36)),
    ]  # fmt: skip
    assert ranked.replicas("visual.x") == ()


def test_a_tensor_that_is_on_no_rank(folder: Path) -> None:
    for rank in range(4):
        edit(folder, rank, lambda data: data["tensors"].pop("A_log"))
    with pytest.raises(rt.ShardError, match=r"^SHD417: \S+: no rank has all of A_log, or all of them together$"):
        Ranked(folder / "cut").patches("A_log")


def test_a_manifest_that_is_not_of_its_files(folder: Path) -> None:
    def change(data: Any) -> None:
        data["layouts"].append([[8], [[[0, 1, 0]]]])
        data["tensors"]["A_log"] = len(data["layouts"]) - 1

    edit(folder, 2, change)
    text = "rank-2: A_log is F32 [2] of [8], F32 [1] of [8] by rank.json"
    with pytest.raises(rt.ShardError) as caught:
        Ranked(folder / "cut").patches("A_log")
    assert caught.value.findings == (("SHD406", text),)


def test_more_regions_than_anybody_needs() -> None:
    rows = tuple((2 * at, 2 * at + 1, 0) for at in range(300))
    with pytest.raises(rt.ShardError, match=r"^SHD406: rank\.json: 360000 regions of one tensor are too many$"):
        regions_of({"a": RankLayout((600, 600), (rows, rows))})


def test_every_fault_of_every_rank(folder: Path) -> None:
    edit(folder, 1, lambda data: data.update(source="other"))
    (folder / "cut" / "rank-2" / "rank.json").write_text("{")
    with pytest.raises(rt.ShardError) as caught:
        Ranked(folder / "cut")
    assert [code for code, _ in caught.value.findings] == ["SHD416", "SHD406"]
