from __future__ import annotations

from shardc.review.by_rank import ByRank


def test_the_last_mesh_dim_is_the_fastest() -> None:
    held = ByRank(("ep", "tp"), (2, 3), tuple("abcdef"))
    assert [held.at({"tp": tp, "ep": ep}) for ep in range(2) for tp in range(3)] == list("abcdef")
    assert held.at({"ep": 1, "pp": 7}) == "d", "a mesh dim that is not named has its first rank"


def test_what_depends_on_no_mesh_dim_is_one_for_all() -> None:
    assert ByRank((), (), (3,)).at({"tp": 5}) == 3
