"""Which ranks stand at the ends of a mesh dim."""

from __future__ import annotations

import pytest

from shardc.plan.stages import is_on, ranks_at


@pytest.mark.parametrize(
    ("ends", "by_size"),
    [
        (("first",), {1: {0}, 2: {0}, 4: {0}}),
        (("last",), {1: {0}, 2: {1}, 4: {3}}),
        (("first", "last"), {1: {0}, 2: {0, 1}, 4: {0, 3}}),
    ],
)
def test_ranks_at(ends: tuple[str, ...], by_size: dict[int, set[int]]) -> None:
    assert {size: ranks_at(ends, size) for size in by_size} == by_size


def test_is_on() -> None:
    mesh = {"tp": 2, "pp": 3}
    assert [is_on({"pp": ("last",)}, mesh, {"tp": 1, "pp": pp}) for pp in range(3)] == [False, False, True]
    assert is_on({}, mesh, {"pp": 1})
    assert is_on({"cp": ("first", "last")}, mesh, {"pp": 1})
    both = {"pp": ("last",), "tp": ("first",)}
    assert [is_on(both, mesh, {"tp": tp, "pp": 2}) for tp in range(2)] == [True, False]
