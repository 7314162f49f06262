"""What the page of a diff draws: which meshes, which tensors, and both sides of each."""

from __future__ import annotations

from typing import Any

from shardc.review.compare.specs import spec_change
from shardc.review.diff import SpecChange
from shardc.review.pages.diff_pictures import MOST_TENSORS, Tables, pictures
from tests.cli.support import SPEC
from tests.review.support import change, edited, version

MOVED = edited(("[heads * 4, hidden]", "[4 * heads, hidden]"))


def _drawn(spec: SpecChange) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    tables = Tables()
    found: list[dict[str, Any]] = pictures(spec, tables)
    return found, tables.data()


def test_a_tensor_that_is_cut_otherwise_is_drawn_on_each_mesh_that_differs() -> None:
    (one,), tables = _drawn(change(SPEC, MOVED))
    assert (one["checkpoint"], one["more"]) == ("tiny", 0)
    assert [mesh["name"] for mesh in one["meshes"]] == ["tp=2", "tp=4", "tp=8"]
    mesh = one["meshes"][0]
    assert (mesh["outcome"], mesh["why"], mesh["pairs"]) == ("lays bytes out differently", [], [(0, 0)])
    before, after = ([tables["cuts"][i]["r"] for i in mesh[side]["rows"][0][:-1]] for side in ("before", "after"))
    assert before == [[[[0, 16]], [[16, 32]]], [[[0, 16]]]]
    assert after == [[[[0, 4, 0, 8, 4]], [[4, 8, 0, 8, 4]]], [[[0, 16]]]]
    assert [row["f"] for side in ("before", "after") for row in one[side]["rows"]] == [
        "[heads * 4, hidden]",
        "[4 * heads, hidden]",
    ]


def test_bytes_are_of_all_tensors_of_the_mesh() -> None:
    (one,), _ = _drawn(change(SPEC, MOVED))
    assert one["meshes"][0]["before"]["bytes"] == [[2 * (16 * 16 + 16 * 16) * 2, 0, 0]] * 2


def test_a_mesh_that_no_longer_loads_has_one_side_and_the_reason() -> None:
    (one,), _ = _drawn(change(SPEC, edited(("size: n_heads}", "size: n_heads, granule: 2}"))))
    (mesh,) = one["meshes"]
    assert (mesh["name"], mesh["outcome"], mesh["after"]) == ("tp=8", "no longer loads", None)
    assert mesh["why"] == ["SHD201 8 heads cannot be dealt to 8 tp ranks: 4 granules of 2, 0.5 (1 element) each"]
    rows = [one["before"]["rows"][a]["t"] for a, _ in mesh["pairs"]]
    assert rows == ["layers.*.q_proj.weight", "layers.*.o_proj.weight"]


def test_a_tensor_that_is_new_has_nobody_beside_it() -> None:
    more = "      norm: {shape: [hidden], shard: replicated}\n"
    (one,), _ = _drawn(change(SPEC, SPEC.replace("      o_proj", f"{more}      o_proj")))
    assert [mesh["name"] for mesh in one["meshes"]] == ["tp=1", "tp=2", "tp=4", "tp=8"]
    assert [(row["t"], row["n"]) for row in one["after"]["rows"]] == [("layers.*.norm", 2)]
    assert one["meshes"][0]["pairs"] == [(-1, 0)]
    (gone,), _ = _drawn(change(SPEC.replace("      o_proj", f"{more}      o_proj"), SPEC))
    assert gone["meshes"][0]["pairs"] == [(0, -1)]


def test_what_is_written_otherwise_and_cut_the_same_is_not_drawn() -> None:
    assert _drawn(change(SPEC, edited(("[heads * 4, hidden]", "[heads * 2 * 2, hidden]"))))[0] == []
    assert _drawn(change(SPEC, SPEC.replace("spec: 1", "spec: 1 # one")))[0] == []


def test_a_spec_that_is_new_or_broken_has_one_side() -> None:
    (new,), _ = _drawn(spec_change("tiny", None, version(SPEC)))
    assert {mesh["before"] for mesh in new["meshes"]} == {None}
    assert len(new["after"]["rows"]) == 2
    (broken,), _ = _drawn(change(SPEC, edited(("name: tiny", "name: TINY"))))
    assert {mesh["after"] for mesh in broken["meshes"]} == {None}


def test_a_comparison_of_very_many_tensors_ends() -> None:
    def spec(shape: str) -> str:
        tensors = "\n".join(f"      w{i}.weight: {{shape: [{shape}, hidden], shard: channel_rows}}" for i in range(70))
        return SPEC.replace("      o_proj", f"{tensors}\n      o_proj")

    (one,), _ = _drawn(change(spec("heads * 4"), spec("4 * heads")))
    assert (len(one["meshes"][0]["pairs"]), one["more"]) == (MOST_TENSORS, 10)
