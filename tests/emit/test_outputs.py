"""Outputs in the text of a generated module."""

from __future__ import annotations

import ast

import pytest

from shardc.emit.module import module
from tests.support import resolved

SPEC = """\
spec: 1
name: tiny
architectures: [Tiny]
dtype: BF16
config: {n: n, head_dim: head_dim, nope: nope}
axes:
  k_heads: {size: n}
  v_heads: {size: 2 * n, within: k_heads}
  experts: {size: 8, over: ep}
let: {half: head_dim / 2}
groups:
  attention:
    at: layers.{layer}
    for: {layer: 2}
    tensors:
      q: {shape: [k_heads * head_dim, 4], shard: channel_rows}
      k: {shape: [k_heads * (nope | head_dim), 4], shard: channel_rows}
      b: {shape: [v_heads, 4], shard: head_rows}
      c: {shape: [4, k_heads], shard: head_rows, dims: [in, out]}
    outputs: OUTPUTS
  experts:
    at: layers.{layer}.experts.{expert}
    for: {layer: 2, expert: experts}
    tensors: {up: {shape: [8, 4], shard: expert_slices}}
    outputs: STACKED
"""


def written(outputs: str, stacked: str = "{}") -> list[str]:
    """The calls of rt.Output, as Python writes them."""
    text = module(resolved(SPEC.replace("OUTPUTS", outputs).replace("STACKED", stacked)))
    calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    return [ast.unparse(call) for call in calls if ast.unparse(call.func) == "rt.Output"]


@pytest.mark.parametrize(
    ("outputs", "call"),
    [
        ("{qb: {concat: [q, b]}}", "rt.Output(at + 'qb', (at + 'q', at + 'b'))"),
        ("{c2: {concat: [c]}}", "rt.Output(at + 'c2', (at + 'c',), dim=1)"),
        ("{qb: {interleave: [q, b], by: k_heads}}", "rt.Output(at + 'qb', (at + 'q', at + 'b'), by=(k_heads, v_heads))"),
        ("{q2: {permute: q, from: k_heads * 2 * half, to: k_heads * half * 2}}",
         "rt.Output(at + 'q2', (rt.Permuted(at + 'q', (rt.Granules(k_heads.local, 2 * half, "
         "(rt.Turn((2, half), (half, 1), (1, 2)),)),)),))"),
        ("{qk: {concat: [q, {permute: k, from: k_heads * (nope | head_dim), to: k_heads * (head_dim | nope)}]}}",
         "rt.Output(at + 'qk', (at + 'q', rt.Permuted(at + 'k', (rt.Granules(k_heads.local, nope + head_dim, "
         "(rt.Turn((nope,), (1,), (1,), place=head_dim), rt.Turn((head_dim,), (1,), (1,), start=nope))),))))"),
    ],
)  # fmt: skip
def test_an_output(outputs: str, call: str) -> None:
    assert written(outputs) == [call]


def test_a_slice_of_a_stack() -> None:
    assert written("{}", "{w: {concat: [up], stack: expert}}") == [
        "rt.Output(f'layers.{layer}.experts.w', (at + 'up',), slice=(expert - experts.start, experts.local))"
    ]


def test_only_a_module_with_outputs_speaks_of_them() -> None:
    without = module(resolved(SPEC.replace("OUTPUTS", "{}").replace("STACKED", "{}")))
    assert "fused" not in without and "rt.Output" not in without
    text = module(resolved(SPEC.replace("OUTPUTS", "{qb: {concat: [q, b]}}").replace("STACKED", "{}")))
    assert "Options: dtype, progress, fused, separate, threads" in text
    assert text.count("fused: bool = True,") == text.count("fused=fused)") == 2
    assert "-> Iterator[rt.Tensor | rt.Output]:" in text
    assert max(map(len, text.splitlines())) <= 120
