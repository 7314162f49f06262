"""Outputs as they are resolved: their names, their members, and what `like` takes along."""

from __future__ import annotations

import pytest

from shardc.layout.show import show
from tests.plan.support import said_of, spec
from tests.support import resolved

GROUP = """\
axes:
  k_heads: {size: 4}
  v_heads: {size: 8, within: k_heads}
  experts: {size: 4, over: ep, role: experts}
let: {half: 4 / 2}
groups:
  g:
    at: layers.{layer}.experts.{expert}
    for: {layer: 2, expert: experts}
    let: {rows: k_heads * 4}
    tensors:
      q.weight: {shape: [rows, 3], shard: expert_slices + channel_rows}
      k.weight: {shape: [v_heads, 3], shard: expert_slices + head_rows}
      s: {shape: [], shard: expert_slices}
    outputs:
      OUTPUT
"""


def group(output: str) -> str:
    return spec(GROUP.replace("OUTPUT", output))


def test_a_concatenation() -> None:
    [output] = resolved(group("qk.weight: {concat: [k.weight, q.weight]}")).outputs
    assert output.pattern == "layers.{layer}.experts.{expert}.qk.weight"
    assert [member.entry.path[-1] for member in output.members] == ["k.weight", "q.weight"]
    assert [loop.index for loop in output.loops] == ["layer", "expert"]
    assert (output.by, output.stack, output.stack_axis) == (None, None, None)


def test_a_stack_has_no_index_of_its_own() -> None:
    [output] = resolved(group("w.weight: {concat: [q.weight, k.weight], stack: expert}")).outputs
    assert output.pattern == "layers.{layer}.experts.w.weight"
    assert [loop.index for loop in output.loops] == ["layer"]
    assert (output.stack, output.stack_axis) == ("expert", "experts")


def test_an_interleaving() -> None:
    [output] = resolved(group("qk.weight: {interleave: [q.weight, k.weight], by: k_heads}")).outputs
    assert output.by == "k_heads"


def test_a_permutation_by_lets() -> None:
    [output] = resolved(
        group("q.weight: {permute: q.weight, from: k_heads * 2 * half, to: k_heads * half * 2}")
    ).outputs
    [member] = output.members
    assert member.origin is not None
    assert show(member.origin) == "k_heads * 2 * (4 / 2)"
    assert [show(run.count) for run in member.runs] == ["k_heads"]


def test_like_takes_outputs_to_its_own_place() -> None:
    text = group("qk.weight: {concat: [k.weight, q.weight], stack: expert}")
    text += "  mtp: {at: 'mtp.{expert}', for: {expert: experts}, like: g}\n"
    assert [(output.group, output.pattern) for output in resolved(text).outputs] == [
        ("g", "layers.{layer}.experts.qk.weight"),
        ("mtp", "mtp.qk.weight"),
    ]


def test_a_group_of_one_index_alone() -> None:
    text = spec("""\
    axes: {experts: {size: 4, over: ep}}
    groups:
      g:
        at: "{e}"
        for: {e: experts}
        tensors: {w: {shape: [2], shard: expert_slices}}
        outputs: {all: {concat: [w], stack: e}}
    """)
    assert [output.pattern for output in resolved(text).outputs] == ["all"]


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ("a: {concat: [q.wieght]}", ("SHD103", "unknown tensor `q.wieght`", "q.wieght")),
        ("a: {permute: z, from: '2', to: '3'}", ("SHD103", "unknown tensor `z`", "z")),
        ("a: {concat: [{permute: z, from: '2', to: '3'}]}", ("SHD103", "unknown tensor `z`", "z")),
        ("a: {permute: s, from: 1 * 2, to: 2 * 1}", ("SHD230", "`s` is a scalar: it has no rows to permute", "s")),
        ("a: {permute: q.weight, from: k_heads * n, to: k_heads * 2}", ("SHD103", "unknown name `n`", "n")),
        ("a: {permute: q.weight, from: k_heads + 2, to: k_heads * 2}",
         ("SHD203", "`k_heads + 2`: only `*` and `|` apply to an axis, and k_heads is one", "k_heads + 2")),
        ("a: {permute: q.weight, from: k_heads *, to: k_heads * 2}", ("SHD104", "`k_heads *` is not a formula", "k")),
        ("a: {permute: q.weight, from: k_heads * 4, to: 4 * k_heads}",
         ("SHD230", "`k_heads * 4` and `4 * k_heads` differ at an axis or before it: rows of several ranks would move", "4 * k_heads")),
        ("a: {interleave: [q.weight, k.weight], by: heads}", ("SHD103", "unknown axis `heads`", "heads")),
        ("a: {interleave: [q.weight, k.weight], by: v_heads}", ("SHD230", "the rows of `q.weight` are not dealt by v_heads", "q.weight")),
        ("a: {interleave: [k.weight, s], by: k_heads}", ("SHD230", "the rows of `s` are not dealt by k_heads", "s")),
        ("a: {concat: [q.weight], stack: layers}", ("SHD103", "unknown index `layers`", "layers")),
        ("a: {concat: [q.weight], stack: layer}",
         ("SHD230", "`layer` runs over a count: only the elements of an axis are dealt and stacked", "layer")),
        ("'{n}.a': {concat: [q.weight]}", ("SHD103", "`{n}.a` uses the index `n`, which the group does not have", "'{n}.a'")),
        ("'{expert}.a': {concat: [q.weight], stack: expert}",
         ("SHD105", "`layers.{layer}.experts.{expert}.a` uses the index `expert`, which it stacks: it is one tensor for all of them",
          "'{expert}.a'")),
    ],
)  # fmt: skip
def test_what_is_wrong(output: str, said: tuple[str, str, str]) -> None:
    first, *_ = said_of(group(output))
    assert first == said
