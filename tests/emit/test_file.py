"""What depends on the file: layouts that exclude each other by a name, and sizes that a header has."""

from __future__ import annotations

from pathlib import Path

import pytest

from shardc.plan.evidence import Header
from shardc.runtime import Header as RuntimeHeader
from tests.plan.support import spec
from tests.support import generated, generated_rows, plan, resolved, rows

TEXT = spec("""\
config: {hidden: hidden, layers: layers, num_experts: experts, size: {tensor: "l.*.up*", dim: 1, else: 6}}
axes:
  experts: {size: num_experts, over: ep}
groups:
  fused:
    at: l.{layer}
    for: {layer: layers}
    when: has('l.{layer}.up')
    tensors:
      up: {shape: [experts, size, hidden], shard: expert_slices}
  each:
    at: l.{layer}.{expert}
    for: {layer: layers, expert: experts}
    when: not has('l.{layer}.up')
    tensors:
      up.weight: {shape: [hidden, size], shard: expert_slices}
""")
CONFIG = {"hidden": 4, "layers": 2, "experts": 2}
FUSED: dict[str, Header] = {f"l.{i}.up": ("BF16", (2, 8, 4)) for i in range(2)}
EACH: dict[str, Header] = {f"l.{i}.{e}.up.weight": ("BF16", (4, 6)) for i in range(2) for e in range(2)}
MIXED: dict[str, Header] = {"l.0.up": ("BF16", (2, 6, 4)), **{f"l.1.{e}.up.weight": ("BF16", (4, 6)) for e in range(2)}}


@pytest.mark.parametrize(
    ("headers", "kept"),
    [
        (FUSED, {"l.0.up": (2, 8, 4), "l.1.up": (2, 8, 4)}),
        (EACH, {"l.0.1.up.weight": (4, 6), "l.1.1.up.weight": (4, 6)}),
        (MIXED, {"l.0.up": (2, 6, 4), "l.1.1.up.weight": (4, 6)}),
        (None, {"l.0.1.up.weight": (4, 6), "l.1.1.up.weight": (4, 6)}),
    ],
)
def test_both_programs_agree(headers: dict[str, Header] | None, kept: dict[str, object], tmp_path: Path) -> None:
    by_interpreter = rows(plan(TEXT, CONFIG, {"tp": 1, "ep": 2}, headers), {"ep": 1})
    module = generated(resolved(TEXT), tmp_path)
    there = {name: RuntimeHeader(*header) for name, header in headers.items()} if headers is not None else None
    assert generated_rows(module, CONFIG, {"ep": (1, 2)}, there) == by_interpreter
    assert {name: row[0] for name, row in by_interpreter.items()} == kept
