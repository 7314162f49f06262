"""Short specs, and findings as (code, message, the text that is marked)."""

from __future__ import annotations

from collections.abc import Iterable
from textwrap import dedent

from shardc.diagnostics import Diagnostic
from shardc.plan.compile import Compiled
from shardc.plan.plan import Plan
from tests.support import compiled, try_resolve

_HEAD = "spec: 1\nname: example\narchitectures: [Example]\ndtype: BF16\n"

Said = tuple[str, str, str]


def spec(body: str) -> str:
    """A spec with everything but its names: config, axes, let, contracts and groups are the body's."""
    return _HEAD + dedent(body)


def said(findings: Iterable[Diagnostic], text: str) -> list[Said]:
    """Each finding with the text under its primary label."""
    return [(f.code, f.message, marked(f, text)) for f in findings]


def said_of(text: str) -> list[Said]:
    """What resolving a spec finds."""
    return said(try_resolve(text)[1], text)


def marked(finding: Diagnostic, text: str) -> str:
    assert finding.label is not None
    span = finding.label.span
    assert span.line == span.end_line
    return text.splitlines()[span.line - 1][span.col - 1 : span.end_col - 1]


#: A model of every kind of output: vocabulary with padding, shared kv heads, a cast, rank 0 alone, experts in NVFP4.
_MODEL = """\
config: {hidden: hidden, layers: layers, n: n, kv: kv, rows: rows, ex: experts}
axes:
  kv_heads: {size: kv, if_fewer: replicate}
  heads: {size: n, within: kv_heads}
  vocab: {size: rows, pad_to: 8}
  experts: {size: ex, over: ep}
contracts:
  - {use: vocab_64, with: {rows: local(heads * 64)}}
groups:
  top:
    tensors:
      embed.weight: {shape: [vocab, hidden], shard: vocab_rows}
  layers:
    at: layers.{layer}
    for: {layer: layers}
    let: {q: heads * 4, k: kv_heads * 4}
    tensors:
      norm.weight: {shape: [hidden], shard: replicated, dtype: {file: F32, load: BF16}}
      qk.weight: {shape: [q | k, hidden], shard: segmented_rows}
      o.weight: {shape: [hidden, q], shard: channel_cols}
      o.bias: {shape: [hidden], shard: rank0}
  experts:
    at: layers.{layer}.experts.{expert}
    for: {layer: layers, expert: experts}
    tensors:
      up.weight: {shape: [hidden, 32], shard: expert_slices, formats: [nvfp4]}
"""


def model(tp: int, ep: int = 1) -> Compiled:
    """Two layers; 4 heads in 2 groups, of 4 channels; 10 rows of vocabulary; hidden 4; 4 experts."""
    config = {"hidden": 4, "layers": 2, "n": 4, "kv": 2, "rows": 10, "experts": 4}
    return compiled(spec(_MODEL), config, {"tp": tp, "ep": ep})


def example(tp: int, ep: int = 1) -> Plan:
    """The plan of the model."""
    result = model(tp, ep).plan
    assert result is not None
    return result
