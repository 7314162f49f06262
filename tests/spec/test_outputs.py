"""The forms of an output, and what none of them may be."""

from __future__ import annotations

from typing import Any

import pytest

from shardc.spec.outputs import MAX_MEMBERS, Output
from tests.spec.example import group, refused


def output(**fields: Any) -> Output:
    return group(outputs={"o": fields}).outputs["o"]


def members(one: Output) -> list[tuple[str, str | None, str | None]]:
    return [(member.permute, member.origin, member.to) for member in one.members]


def test_concat() -> None:
    one = output(concat=["a", {"permute": "b", "from": "n * 2", "to": "2 * n"}], stack="expert")
    assert members(one) == [("a", None, None), ("b", "n * 2", "2 * n")]
    assert one.stack == "expert"


def test_interleave() -> None:
    one = output(interleave=["a", "b"], by="heads")
    assert (members(one), one.by) == ([("a", None, None), ("b", None, None)], "heads")


def test_permute() -> None:
    assert members(output(permute="a", **{"from": "n * 2", "to": "2 * n"})) == [("a", "n * 2", "2 * n")]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "an output has one of `concat`, `interleave` and `permute`, not 0"),
        ({"concat": ["a"], "permute": "b"}, "an output has one of `concat`, `interleave` and `permute`, not 2"),
        ({"concat": ["a"], "by": "heads"}, "`concat` has no `by`"),
        ({"concat": ["a"], "to": "2 * n"}, "`concat` has no `to`"),
        ({"interleave": ["a", "b"]}, "`interleave` needs `by`"),
        ({"interleave": ["a", "b"], "by": "heads", "from": "n"}, "`interleave` has no `from`"),
        ({"permute": "a", "to": "n"}, "`permute` needs `from`"),
        ({"permute": "a", "from": "n"}, "`permute` needs `to`"),
        ({"interleave": ["a", "b"], "by": "heads", "stack": "e"}, "`stack` goes with `concat`, not with `interleave`"),
        ({"concat": []}, "`concat` must hold at least 1"),
        ({"concat": ["a"] * (MAX_MEMBERS + 1)}, "`concat` may hold at most 16, not 17"),
        ({"interleave": ["a"], "by": "heads"}, "`interleave` must hold at least 2"),
        ({"concat": [5]}, "a member is a tensor of the group, or {permute: …, from: …, to: …}"),
        ({"concat": [{"permute": "a"}]}, "a member is a tensor of the group, or {permute: …, from: …, to: …}"),
        ({"concat": "a"}, "`concat` must be a list, not `a`"),
        ({"concat": ["a b"]}, "`a b` is not a name that can stand here"),
    ],
)
def test_no_output(fields: dict[str, Any], message: str) -> None:
    assert refused(groups={"g": {"outputs": {"o": fields}}}) == ("SHD101", message)
