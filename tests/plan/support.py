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


#: Outputs of every kind: interleaved, permuted, stacked.
OUTPUTS = spec("""\
axes:
  heads: {size: 4}
  experts: {size: 3, over: ep, if_uneven: ceil}
groups:
  attention:
    at: layers.{layer}
    for: {layer: 2}
    tensors:
      b: {shape: [heads * 2, 1], shard: channel_rows}
      a: {shape: [heads, 1], shard: head_rows}
      q: {shape: [heads * 4, 1], shard: channel_rows}
    outputs:
      ba: {interleave: [b, a], by: heads}
      q: {permute: q, from: heads * 2 * (4 / 2), to: heads * (4 / 2) * 2}
  experts:
    at: experts.{expert}
    for: {expert: experts}
    tensors: {up: {shape: [4], shard: expert_slices}}
    outputs: {w: {concat: [up], stack: expert}}
""")

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


#: 5 layers over pp, of which 2 are dense; 5 experts dealt round robin to ep, by name and stacked; the ends of a pipeline.
_PIPELINE = """\
config: {hidden: hidden, num_layers: layers, dense: dense, n: n, ex: experts, width: width, rows: rows, tied: tied}
axes:
  layers: {size: num_layers, over: pp, if_uneven: spread}
  heads: {size: n, over: attn_tp}
  experts: {size: ex, over: ep, if_uneven: spread, placement: round_robin}
  inter: {size: width}
  vocab: {size: rows, pad_to: 8}
groups:
  embeddings:
    tensors:
      embed.weight: {shape: [vocab, hidden], shard: vocab_rows, only: {pp: EMBEDDED}}
  head:
    only: {pp: last}
    tensors:
      norm.weight: {shape: [hidden], shard: replicated}
      head.weight: {shape: [vocab, hidden], shard: vocab_rows, tied_to: {name: embed.weight, when: tied}}
  attention:
    at: layers.{layer}
    for: {layer: layers}
    tensors:
      o.weight: {shape: [hidden, heads * 4], shard: channel_cols}
  dense:
    at: layers.{layer}
    for: {layer: {of: layers, to: dense}}
    tensors:
      up.weight: {shape: [inter, hidden], shard: column_parallel}
  moe:
    at: layers.{layer}.experts.{expert}
    for: {layer: [dense, layers], expert: experts}
    tensors:
      up.weight: {shape: [inter, hidden], shard: expert_slices + column_parallel}
  stacked:
    at: layers.{layer}.experts
    for: {layer: [dense, layers]}
    tensors:
      down: {shape: [experts, inter, hidden], dims: [in, out], shard: expert_slices + row_parallel}
"""
PIPELINE_CONFIG = {"hidden": 4, "layers": 5, "dense": 2, "n": 4, "experts": 5, "width": 6, "rows": 10, "tied": True}


def pipeline(embedded: str = "[first, last]") -> str:
    """The text of the spec; `embedded` says on which stages the embedding is."""
    return spec(_PIPELINE.replace("EMBEDDED", embedded))


def model(tp: int, ep: int = 1) -> Compiled:
    """Two layers; 4 heads in 2 groups, of 4 channels; 10 rows of vocabulary; hidden 4; 4 experts."""
    config = {"hidden": 4, "layers": 2, "n": 4, "kv": 2, "rows": 10, "experts": 4}
    return compiled(spec(_MODEL), config, {"tp": tp, "ep": ep})


def example(tp: int, ep: int = 1) -> Plan:
    """The plan of the model."""
    result = model(tp, ep).plan
    assert result is not None
    return result
