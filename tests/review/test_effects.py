from __future__ import annotations

from msgspec.structs import replace

from shardc.review.diff import MeshChange, Side, SpecChange
from shardc.review.effects import effect, rows
from tests.review.support import SPEC, change, edited

LOADS, FAILS = Side(True, 100), Side(True, None, ("SHD201 no",))


def spec(*meshes: MeshChange) -> SpecChange:
    return replace(change(SPEC, SPEC + "#\n"), classes=("widens",), meshes=meshes)


def mesh(checkpoint: str, before: Side, after: Side, *classes: str, **sizes: int) -> MeshChange:
    return MeshChange(checkpoint, {k: v for k, v in sizes.items() if v > 1}, before, after, classes)  # type: ignore[arg-type]


def test_each_outcome_with_its_meshes() -> None:
    found = spec(
        mesh("a", LOADS, LOADS, tp=1),
        mesh("a", LOADS, LOADS, tp=2),
        mesh("a", FAILS, LOADS, "widens", tp=4),
        mesh("a", LOADS, FAILS, "narrows", tp=8),
        mesh("a", FAILS, FAILS, tp=16),
        mesh("a", LOADS, LOADS, "layout", tp=32),
    )
    assert effect(found) == (
        "tp=4 now loads; tp=8 no longer loads; tp=16 still does not load; tp=32 lays bytes out differently; "
        "tp=1, 2 byte-identical"
    )


def test_checkpoints_of_which_the_same_is_true_are_said_together() -> None:
    same = [mesh(name, LOADS, LOADS, tp=tp) for name in ("b", "c", "d") for tp in (1, 2)]
    found = spec(mesh("a", FAILS, LOADS, "widens", tp=1), *same)
    assert effect(found) == "a: tp=1 now loads; b, c and 1 more: all 2 meshes byte-identical"


def test_meshes_of_two_dims_that_are_a_product() -> None:
    every = [mesh("a", LOADS, LOADS, tp=tp, ep=ep) for tp in (1, 2) for ep in (1, 4)]
    found = spec(*every, mesh("a", FAILS, LOADS, "widens", tp=4))
    assert effect(found) == "tp=4 now loads; tp=1, 2 x ep=1, 4 byte-identical"


def test_rows_leave_out_what_tp_alone_says_already() -> None:
    found = spec(
        mesh("a", LOADS, FAILS, "narrows", tp=2),
        mesh("a", LOADS, FAILS, "narrows", tp=4),
        mesh("a", LOADS, FAILS, "narrows", tp=4, ep=2),
        mesh("a", LOADS, LOADS, "layout", tp=1, ep=2),
        mesh("a", LOADS, LOADS, tp=1),
    )
    assert [(row.mesh, row.outcome) for row in rows(found)] == [
        ("tp=2, 4", "no longer load: SHD201 no"),
        ("ep=2", "lays bytes out differently"),
    ]


def test_a_spec_without_targets() -> None:
    bare = edited(("targets:\n  - {checkpoint: tiny, tp: [1, 2, 4, 8]}\n", ""))
    assert effect(change(bare, bare.replace("num_heads", "heads"))) == "no target"
