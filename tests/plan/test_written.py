"""Tensors of a group: its own, and those of the fragments that it uses."""

from __future__ import annotations

import json
import re

import pytest

from shardc.layout.show import show
from shardc.plan.resolve import resolve
from shardc.source import loads
from shardc.spec.library import fragment_file, fragment_names
from shardc.spec.read import read_spec
from tests.plan.support import said_of, spec
from tests.support import resolved

HEAD = """\
config: {hidden: hidden, layers: layers, n: n, head_dim: head_dim, size: size, moe_size: moe_size, num_experts: experts}
formats: {linear: [dense, fp8_block], experts: [dense, nvfp4]}
axes:
  kv_heads: {size: n}
  heads: {size: n, within: kv_heads}
  inter: {size: size}
  moe_inter: {size: moe_size}
  experts: {size: num_experts, over: ep}
groups:
"""
SPEC = spec(
    HEAD
    + """\
  attention:
    at: layers.{layer}.attn
    for: {layer: layers}
    use: [gqa, qk_norm]
    tensors:
      q_proj.weight: {shape: [heads * (head_dim | head_dim), hidden], shard: channel_rows}
      sinks: {shape: [heads], shard: head_rows}
  experts:
    at: layers.{layer}.experts.{expert}
    for: {layer: layers, expert: experts}
    use: {fragment: gated_mlp, with: {inter: moe_inter}, formats: experts}
  again: {like: attention, at: mtp.attn}
  mlp: {at: mlp, use: gated_mlp}
"""
)


def test_a_groups_own_tensors_replace_those_of_fragments() -> None:
    found = {entry.pattern: entry for entry in resolved(SPEC).entries if entry.group == "attention"}
    assert [name.removeprefix("layers.{layer}.attn.") for name in found] == [
        "q_proj.weight", "k_proj.weight", "v_proj.weight", "o_proj.weight", "q_norm.weight", "k_norm.weight", "sinks",
    ]  # fmt: skip
    q, k = found["layers.{layer}.attn.q_proj.weight"], found["layers.{layer}.attn.k_proj.weight"]
    assert (show(q.dims[0]), [f.name for f in q.formats]) == ("heads * (head_dim | head_dim)", ["dense"])
    assert (show(k.dims[0]), [f.name for f in k.formats]) == ("kv_heads * head_dim", ["dense", "fp8_block"])
    assert q.path == ("groups", "attention", "tensors", "q_proj.weight")
    assert k.path == ("groups", "attention", "use", 0, "tensors", "k_proj.weight")


def test_an_expert_of_a_fragment() -> None:
    gate, _, down = (entry for entry in resolved(SPEC).entries if entry.group == "experts")
    assert (gate.formula, gate.kind, gate.derived) == (
        "[moe_inter, hidden]", "expert_slices + column_parallel", "expert_slices + column_parallel",
    )  # fmt: skip
    assert (down.kind, [f.name for f in down.formats]) == ("expert_slices + row_parallel", ["dense", "nvfp4"])


def test_like_takes_fragments_over() -> None:
    names = [entry.pattern for entry in resolved(SPEC).entries if entry.group == "again"]
    assert names[1] == "mtp.attn.k_proj.weight" and len(names) == 7


@pytest.mark.parametrize(
    ("group", "finding"),
    [
        ("use: gqqa", ("SHD106", "unknown fragment `gqqa`", "gqqa")),
        ("use: [mla]", ("SHD103", "fragment `mla` needs `kv_lora`, `nope`, `rope`, `v_head_dim`", "mla")),
        ("use: {fragment: gated_mlp, with: {intr: size}}",
         ("SHD103", "fragment `gated_mlp` has no name `intr`", "intr")),
        ("use: {fragment: gated_mlp, with: {inter: width}}", ("SHD103", "unknown name `width`", "width")),
        ("use: [gated_mlp, gated_mlp]",
         ("SHD105", "`gate_proj.weight` comes from two fragments", "gated_mlp")),
        ("use: {fragment: gated_mlp, formats: fp9}", ("SHD106", "unknown format `fp9`", "fp9")),
    ],
)  # fmt: skip
def test_findings(group: str, finding: tuple[str, str, str]) -> None:
    assert said_of(spec(HEAD + f"  wrong:\n    at: x\n    {group}\n"))[0] == finding


#: What fragments need that is neither a config symbol nor an axis.
LETS = {"x": "m_heads * 8", "bc": "m_groups * 8"}


@pytest.mark.parametrize("name", fragment_names())
def test_a_fragment_needs_what_it_mentions(name: str) -> None:
    """Each fragment alone, its names declared and all of them used; and its kinds agree with its shapes."""
    fragment = fragment_file(name)
    assert fragment.name == name
    lets = {n: LETS[n] for n in fragment.needs if n in LETS}
    needs = [*(n for n in fragment.needs if n not in lets), *re.findall(r"[a-z_]+", " ".join(lets.values()))]
    split = [n for n in needs if n in ("heads", "inter") or n.endswith(("_heads", "_groups"))]
    axes = {n for n in split if not n.startswith("num_")}
    config = ", ".join(f"{n}: {n}" for n in needs if n not in axes)
    declared = "".join(f"  {n}: {{size: 8{', within: kv_heads' if n == 'heads' and 'kv_heads' in axes else ''}}}\n"
                       for n in sorted(axes))  # fmt: skip
    text = spec(
        f"config: {{{config}}}\n"
        + (f"axes:\n{declared}" if declared else "")
        + (f"let: {json.dumps(lets)}\n" if lets else "")
        + f"groups:\n  one: {{use: {name}}}\n"
    )
    document, _ = loads(text, "spec.yaml")
    assert document is not None
    read, findings = read_spec(document)
    assert read is not None, findings
    result, findings = resolve(read, document)
    assert findings == []
    assert all(entry.kind in (entry.derived, "rank0") for entry in result.entries)
