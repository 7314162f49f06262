"""How much each field of a spec may hold: that much is accepted, and one more is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.spec.example import TENSOR, refused, spec

Fields = dict[str, Any]


def in_group(**fields: Any) -> Fields:
    return {"groups": {"g": fields}}


def in_tensor(**fields: Any) -> Fields:
    return in_group(tensors={"w": {**TENSOR, **fields}})


def in_target(**fields: Any) -> Fields:
    return {"targets": [{"checkpoint": "tiny", **fields}]}


def named(count: int, value: object) -> dict[str, object]:
    return {f"n{i}": value for i in range(count)}


@pytest.mark.parametrize(
    ("field", "most", "fields"),
    [
        ("config", 300, lambda n: {"config": named(n, "key")}),
        ("let", 300, lambda n: {"let": named(n, 1)}),
        ("axes", 100, lambda n: {"axes": named(n, {"size": 1})}),
        ("contracts", 50, lambda n: {"contracts": [{"use": "marlin", "with": {}}] * n}),
        ("ignore", 300, lambda n: {"ignore": [{"name": "a", "because": "unused"}] * n}),
        ("targets", 50, lambda n: {"targets": [{"checkpoint": "tiny"}] * n}),
        ("shape", 6, lambda n: in_tensor(shape=[1] * n)),
        ("for", 4, lambda n: in_group(**{"for": named(n, 1)})),
        ("let", 300, lambda n: in_group(let=named(n, 1))),
        ("axes", 100, lambda n: in_group(axes=named(n, {"size": 1}))),
        ("tp", 64, lambda n: in_target(tp=list(range(1, n + 1)))),
        ("ep", 64, lambda n: in_target(ep=list(range(1, n + 1)))),
        ("pp", 64, lambda n: in_target(pp=list(range(1, n + 1)))),
        ("cp", 64, lambda n: in_target(mesh={"cp": list(range(1, n + 1))})),
        ("mesh", 8, lambda n: in_target(mesh=named(n, [1]))),
        ("only", 4, lambda n: in_group(only=named(n, "last"))),
        ("only", 4, lambda n: in_tensor(only=named(n, "last"))),
    ],
)
def test_most(field: str, most: int, fields: Callable[[int], Fields]) -> None:
    spec(**fields(most))
    assert refused(**fields(most + 1)) == ("SHD101", f"`{field}` may hold at most {most}, not {most + 1}")


@pytest.mark.parametrize(
    ("field", "fields"),
    [
        ("architectures", {"architectures": []}),
        ("groups", {"groups": {}}),
        ("dtype", {"dtype": []}),
        ("n", {"config": {"n": []}}),
        ("key", {"config": {"n": {"key": []}}}),
        ("formats", in_tensor(formats=[])),
        ("tp", in_target(tp=[])),
        ("ep", in_target(ep=[])),
        ("pp", in_target(pp=[])),
        ("cp", in_target(mesh={"cp": []})),
    ],
)
def test_least(field: str, fields: Fields) -> None:
    assert refused(**fields) == ("SHD101", f"`{field}` must hold at least 1")


def test_what_may_be_empty() -> None:
    """A scalar has no dims; a group that takes over another's tensors has none of its own."""
    spec(**in_tensor(shape=[]))
    spec(**in_group(tensors={}, let={}, axes={}, **{"for": {}}))
    spec(about="", config={}, axes={}, let={}, contracts=[], ignore=[], targets=[])


@pytest.mark.parametrize("field", ["granule", "pad_to", "pad_local_to"])
def test_sizes_of_an_axis(field: str) -> None:
    def axis(value: int) -> Fields:
        return {"axes": {"a": {"size": 8, field: value}}}

    spec(**axis(1))
    spec(**axis(1_000_000))
    assert refused(**axis(0)) == ("SHD101", f"`{field}` must be at least 1, not 0")
    assert refused(**axis(1_000_001)) == ("SHD101", f"`{field}` must be at most 1000000, not 1000001")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"tp": [0]}, "`tp` must be at least 1, not 0"),
        ({"ep": [4097]}, "`ep` must be at most 4096, not 4097"),
        ({"tp": [1, 2, 1]}, "a size of tp is given twice"),
        ({"ep": [2, 2]}, "a size of ep is given twice"),
        ({"tp": [4096, 4095, 2]}, "the sizes of tp add up to 8193; at most 8192 are tried"),
        ({"mesh": {"cp": [0]}}, "`cp` must be at least 1, not 0"),
        ({"mesh": {"cp": [2, 2]}}, "a size of cp is given twice"),
        ({"mesh": {"cp": [4096, 4095, 2]}}, "the sizes of cp add up to 8193; at most 8192 are tried"),
        ({"tp": [2048], "ep": [3]}, "2048 × 3 ranks; a mesh has at most 4096"),
        ({"tp": [16], "ep": [16], "pp": [8], "mesh": {"cp": [3]}}, "16 × 16 × 8 × 3 ranks; a mesh has at most 4096"),
        (
            {"tp": [1, 2], "pp": list(range(1, 44)), "mesh": {"cp": [1, 2, 3]}},
            "2 × 43 × 3 meshes; at most 256 are tried for one target",
        ),
        ({"tp": list(range(1, 7)), "ep": list(range(1, 44))}, "6 × 43 meshes; at most 256 are tried for one target"),
    ],
)
def test_meshes_that_are_too_many(fields: Fields, message: str) -> None:
    assert refused(**in_target(**fields)) == ("SHD101", message)


@pytest.mark.parametrize(
    "fields",
    [
        {"tp": [4096]},
        {"ep": [4096]},
        {"tp": [64], "ep": [64]},
        {"tp": [8], "ep": [8], "pp": [8], "mesh": {"cp": [8]}},
        {"tp": [4096, 4095, 1]},
        {"tp": list(range(1, 17)), "ep": list(range(1, 17))},
    ],
)
def test_the_most_meshes(fields: Fields) -> None:
    spec(**in_target(**fields))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"about": "a" * 1001}, "`about`: string should have at most 1000 characters"),
        ({"name": "a" * 61}, "`name`: string should have at most 60 characters"),
        (in_group(at="a" * 301), "`at`: string should have at most 300 characters"),
        ({"ignore": [{"name": "a", "because": "123"}]}, "`because`: string should have at least 4 characters"),
        ({"ignore": [{"name": "a", "because": "a" * 301}]}, "`because`: string should have at most 300 characters"),
        ({"ignore": [{"name": "a" * 301, "because": "unused"}]}, "`name`: string should have at most 300 characters"),
    ],
    ids=["about", "name", "at", "no reason", "a long reason", "a long glob"],
)
def test_lengths(fields: Fields, message: str) -> None:
    assert refused(**fields) == ("SHD101", message)


@pytest.mark.parametrize(
    ("fields", "code", "message"),
    [
        ({"spec": 2}, "SHD106", "`2` is not a choice for `spec`: 1"),
        ({"spec": True}, "SHD101", "`true` is not a number"),
        ({"name": "Tiny"}, "SHD101", "`Tiny` is not a name that can stand here"),
        ({"architectures": ["Llama-4"]}, "SHD101", "`Llama-4` is not a name that can stand here"),
        ({"root": "a b"}, "SHD101", "`a b` is not a name that can stand here"),
        ({"let": {"local": 1}}, "SHD101", "`local` is a word of the language"),
        ({"axes": {"a_": {"size": 8}}}, "SHD101", "a name does not end in `_`"),
        (in_tensor(dims=["in", "in"]), "SHD101", "`dims` is [out, in] or [in, out]"),
        (in_tensor(dims=["up", "in"]), "SHD106", "`up` is not a choice for `dims`: `out`, `in`"),
        (in_tensor(optional=1), "SHD101", "`optional` must be true or false, not `1`"),
        (in_tensor(shape=4), "SHD101", "`shape` must be a list, not `4`"),
        (in_tensor(shape=[[4]]), "SHD101", "each of `shape` must be a word, not `[4]`"),
        (in_group(at="model.{Layer}"), "SHD101", "`model.{Layer}` is not a name that can stand here"),
        (in_group(tensors={"a b": TENSOR}), "SHD101", "`a b` is not a name that can stand here"),
        (in_target(tp=["2"]), "SHD101", "each of `tp` must be a whole number, not `2`"),
        (in_target(checkpoint="../x"), "SHD101", "`../x` is not a name that can stand here"),
        ({"contracts": [{"use": "marlin"}]}, "SHD101", "`with` is missing"),
    ],
)
def test_what_fields_do_not_take(fields: Fields, code: str, message: str) -> None:
    assert refused(**fields) == (code, message)
