"""A tensor goes into one output, and names are not shared."""

from __future__ import annotations

import pytest

from tests.plan.support import Said, said_of, spec

SPEC = """\
groups:
  g:
    tensors:
      a: {shape: [2], shard: replicated}
      b: {shape: [2], shard: replicated}
      c: {shape: [2], shard: replicated}
    outputs: OUTPUTS
  h:
    at: other
    tensors: {a: {shape: [2], shard: replicated}}
    outputs: OTHERS
"""


def said(outputs: str, others: str = "{}") -> list[Said]:
    return said_of(spec(SPEC.replace("OUTPUTS", outputs).replace("OTHERS", others)))


@pytest.mark.parametrize(
    "outputs",
    ["{ab: {concat: [a, b]}, x: {concat: [c]}}", "{a: {concat: [a, b]}}", "{b: {concat: [a, b]}}", "{other.ab: {concat: [a, b]}}"],
)  # fmt: skip
def test_nothing_to_say(outputs: str) -> None:
    assert said(outputs) == []


def test_a_tensor_in_two_outputs() -> None:
    assert said("{ab: {concat: [a, b]}, bc: {concat: [b, c]}}") == [("SHD105", "`b` goes into an output twice", "b")]


def test_a_tensor_twice_in_one() -> None:
    assert said("{aba: {concat: [a, b, a]}}")[0] == ("SHD105", "`a` goes into an output twice", "a")


def test_the_name_of_a_tensor_beside_it() -> None:
    assert said("{c: {concat: [a, b]}}") == [
        ("SHD105", "`c` is the name of a tensor that does not go into this output", "c")
    ]


def test_the_name_of_another_output() -> None:
    assert said("{other.x: {concat: [a, b]}}", "{x: {concat: [a]}}") == [
        ("SHD105", "two outputs have the name `other.x`", "x")
    ]
