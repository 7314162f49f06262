"""Entries: one for each tensor that is written down."""

from __future__ import annotations

import pytest

from shardc.layout.expr import Name, Num
from shardc.layout.show import show
from shardc.plan.resolved import Entry, Loop, Tie
from tests.plan.support import Said, said_of, spec
from tests.support import resolved

SPEC = spec("""\
config: {hidden: hidden, layers: layers, n: n, kinds: kinds, tied: tied}
axes:
  heads: {size: n}
  experts: {size: n, over: ep}
let: {channels: heads * 4}
groups:
  top:
    tensors:
      embed.weight: {shape: [64, hidden], shard: replicated}
      head.weight: {shape: [64, hidden], shard: replicated, tied_to: {name: embed.weight, when: tied}}
      scalar: {shape: [], shard: replicated}
  attention:
    at: layers.{layer}.attn
    for: {layer: [1, layers]}
    when: kinds[layer] == 'full'
    let: {gated: channels | channels}
    axes: {own: {size: n}}
    tensors:
      q.weight: {shape: [gated, hidden], shard: segmented_rows, dtype: [F16, F32], formats: [dense, fp8_block]}
      o.weight: {shape: [channels, hidden], dims: [in, out], shard: channel_cols, when: layer > 1}
      o.bias: {shape: [hidden], shard: rank0, dtype: {file: F32, load: BF16}, optional: true}
      conv.weight: {shape: [1, channels, 3], shard: channel_rows}
  experts:
    at: layers.{layer}.experts
    for: {layer: layers}
    tensors:
      up: {shape: [experts, hidden, heads], dims: [in, out], shard: expert_slices+head_rows}
  each:
    at: layers.{layer}.experts.{expert}
    for: {layer: layers, expert: experts}
    tensors:
      norm: {shape: [hidden], shard: expert_slices}
""")
ENTRIES = {entry.pattern: entry for entry in resolved(SPEC).entries}


def entry(name: str) -> Entry:
    return next(one for pattern, one in ENTRIES.items() if pattern.endswith(name))


def test_names_and_places() -> None:
    assert list(ENTRIES) == [
        "embed.weight",
        "head.weight",
        "scalar",
        "layers.{layer}.attn.q.weight",
        "layers.{layer}.attn.o.weight",
        "layers.{layer}.attn.o.bias",
        "layers.{layer}.attn.conv.weight",
        "layers.{layer}.experts.up",
        "layers.{layer}.experts.{expert}.norm",
    ]
    q = entry("q.weight")
    assert (q.group, q.path) == ("attention", ("groups", "attention", "tensors", "q.weight"))


def test_lets_are_written_out_and_kept() -> None:
    q = entry("q.weight")
    assert [show(dim) for dim in q.dims] == ["heads * 4 | heads * 4", "hidden"]
    assert [show(dim) for dim in q.written] == ["gated", "hidden"]
    assert {name: show(let) for name, let in q.lets.items()} == {"gated": "heads * 4 | heads * 4"}
    assert list(q.axes) == ["own"]


def test_equal_dims_are_one_object() -> None:
    assert entry("embed.weight").dims[1] is entry("q.weight").dims[1]


def test_loops_and_conditions() -> None:
    assert [(x.index, show(x.start), show(x.stop), x.axis) for x in entry("q.weight").loops] == [
        ("layer", "1", "layers", None)
    ]
    experts = entry("norm").loops[1]
    assert experts == Loop("expert", Num(0), Name("n"), "experts", Name("n"))
    assert not experts.is_part
    assert show(entry("norm").loops[1].stop) == "n"
    assert [show(when) for when in entry("q.weight").when] == ["kinds[layer] == 'full'"]
    assert [show(when) for when in entry("o.weight").when] == ["kinds[layer] == 'full'", "layer > 1"]


@pytest.mark.parametrize(
    ("name", "leads", "out_dim", "in_dim", "rank0_dim"),
    [
        ("embed.weight", 0, 0, 1, None),
        ("scalar", 0, None, None, None),
        ("o.weight", 0, 1, 0, None),
        ("o.bias", 0, 0, None, 0),
        ("conv.weight", 1, 1, 2, None),
        ("up", 1, 2, 1, None),
        ("norm", 0, 0, None, None),
    ],
)
def test_dims(name: str, leads: int, out_dim: int | None, in_dim: int | None, rank0_dim: int | None) -> None:
    one = entry(name)
    assert (one.leads, one.out_dim, one.in_dim, one.rank0_dim) == (leads, out_dim, in_dim, rank0_dim)


def test_what_a_tensor_says_of_itself() -> None:
    q, bias, head = entry("q.weight"), entry("o.bias"), entry("head.weight")
    assert (q.dtypes, q.load, q.own_dtype) == (("F16", "F32"), None, True)
    assert (bias.dtypes, bias.load, bias.optional) == (("F32",), "BF16", True)
    assert (head.dtypes, head.load, head.own_dtype) == (("BF16",), None, False)
    assert [format.name for format in q.formats] == ["dense", "fp8_block"]
    assert head.tie is not None and head.tie.when is not None
    assert Tie(head.tie.name, None) == Tie("embed.weight", None)
    assert show(head.tie.when) == "tied"
    assert (entry("up").kind, entry("up").derived) == ("expert_slices + head_rows", "expert_slices + head_rows")


def group(fields: str) -> str:
    """A spec of one group."""
    head = "config: {hidden: hidden, layers: layers}\naxes:\n  heads: {size: 8}\n  inter: {size: 8}\n"
    return spec(f"{head}  experts: {{size: 8, over: ep}}\n  more: {{size: 8, over: ep}}\ngroups:\n  all:\n{fields}")


ONE = "    tensors: {w.weight: {shape: [hidden], shard: replicated}}\n"


@pytest.mark.parametrize(
    ("fields", "findings"),
    [
        ("    at: top\n", [("SHD101", "group `all` has no tensors", "all")]),
        (f"    at: layers.{{layer}}\n{ONE}", [("SHD103", "`{layer}` in `layers.{layer}` is no index of its group", "layers.{layer}")]),
        (
            "    tensors: {'{x}.w': {shape: [hidden], shard: replicated}}\n",
            [("SHD103", "`{x}` in `{x}.w` is no index of its group", "'{x}.w'")],
        ),
        (
            f"    for: {{layer: layers}}\n{ONE}",
            [("SHD105", "`w.weight` does not use the index `layer`: it would be claimed once for each", "w.weight")],
        ),
        (
            f"    at: '{{i}}'\n    for: {{i: hidden + heads}}\n{ONE}",
            [("SHD103", "unknown name `heads`", "heads")],
        ),
        (
            f"    at: '{{i}}.{{j}}'\n    for: {{i: experts, j: more}}\n{ONE}",
            [("SHD205", "ep would split the names twice (experts, more)", "more")],
        ),
        (
            "    tensors: {w: {shape: [heads, inter], shard: head_rows}}\n",
            [("SHD205", "tp would split both dim 0 (heads) and dim 1 (inter)", "inter")],
        ),
        (
            "    at: '{i}'\n    for: {i: experts}\n    tensors: {w: {shape: [more], shard: column_parallel}}\n",
            [("SHD205", "ep would split both the names (experts) and dim 0 (more)", "more")],
        ),
        ("    tensors: {w: {shape: [hidden, 4], shard: replicated, formats: [fp9]}}\n", [("SHD106", "unknown format `fp9`", "fp9")]),
        (
            "    tensors: {w: {shape: [hidden], shard: replicated, formats: [nvfp4]}}\n",
            [("SHD106", "`nvfp4` stores a weight of two dims, `out` and `in`, not 1", "nvfp4")],
        ),
        ("    tensors: {w: {shape: [hidden, 4], dims: [in, out], shard: replicated, formats: [nvfp4]}}\n", []),
        (
            "    tensors: {w: {shape: [hidden], shard: replicated, when: heads > 1}}\n",
            [("SHD103", "unknown name `heads`", "heads")],
        ),
        (
            "    tensors: {w: {shape: [hidden], shard: replicated, tied_to: {name: v, when: layer == 0}}}\n",
            [("SHD103", "unknown name `layer`", "layer")],
        ),
    ],
)  # fmt: skip
def test_what_is_said(fields: str, findings: list[Said]) -> None:
    assert said_of(group(fields)) == findings


LOOPS = spec("""\
config: {n: n, dense: dense}
axes:
  layers: {size: n, over: pp}
  experts: {size: n, over: ep}
groups:
  all:
    at: "{layer}"
    for: {layer: LOOP}
    tensors:
      w: {shape: [4], shard: replicated}
""")


@pytest.mark.parametrize(
    ("loop", "start", "stop", "axis", "is_part"),
    [
        ("layers", "0", "n", "layers", False),
        ("{of: layers}", "0", "n", "layers", False),
        ("[0, layers]", "0", "n", "layers", False),
        ("{of: layers, from: 0, to: n}", "0", "n", "layers", False),
        ("[dense, layers]", "dense", "n", "layers", True),
        ("{of: layers, from: dense}", "dense", "n", "layers", True),
        ("{of: layers, to: dense}", "0", "dense", "layers", True),
        ("{of: layers, from: dense + 1, to: n - 1}", "dense + 1", "n - 1", "layers", True),
        ("[dense, n]", "dense", "n", None, False),
        ("{from: dense, to: n}", "dense", "n", None, False),
        ("{to: layers}", "0", "n", "layers", False),
    ],
)
def test_loops_over_an_axis_and_over_part_of_one(
    loop: str, start: str, stop: str, axis: str | None, is_part: bool
) -> None:
    [entry] = resolved(LOOPS.replace("LOOP", loop)).entries
    [found] = entry.loops
    assert (show(found.start), show(found.stop), found.axis, found.is_part) == (start, stop, axis, is_part)
    assert (found.size is not None and show(found.size)) == (axis is not None and "n")
    assert entry.derived == "replicated"


@pytest.mark.parametrize(
    ("loop", "code", "message", "marked"),
    [
        ("{of: layer}", "SHD103", "unknown axis `layer`", "layer"),
        ("[layers, n]", "SHD103", "unknown name `layers`", "[layers, n]"),
        ("{of: layers, from: experts}", "SHD103", "unknown name `experts`", "{of: layers, from: experts}"),
        ("{of: layers, to: layers}", "SHD103", "unknown name `layers`", "{of: layers, to: layers}"),
        ("layers - 1", "SHD103", "unknown name `layers`", "layers"),
    ],
)
def test_what_an_index_does_not_run_over(loop: str, code: str, message: str, marked: str) -> None:
    assert said_of(LOOPS.replace("LOOP", loop)) == [(code, message, marked)]


def test_the_ends_are_those_of_the_tensor_or_of_its_group() -> None:
    text = spec("""\
    axes: {layers: {size: 4, over: pp}}
    groups:
      top:
        only: {pp: first}
        tensors:
          a: {shape: [4], shard: replicated}
          b: {shape: [4], shard: replicated, only: {pp: [first, last]}}
          c: {shape: [4], shard: replicated, only: {}}
      same:
        at: other
        like: top
      rest:
        tensors:
          d: {shape: [4], shard: replicated}
    """)
    assert {entry.pattern: dict(entry.on) for entry in resolved(text).entries} == {
        "a": {"pp": ("first",)},
        "b": {"pp": ("first", "last")},
        "c": {},
        "other.a": {},
        "other.b": {"pp": ("first", "last")},
        "other.c": {},
        "d": {},
    }
