"""A whole spec: `like`, `let`, names, contracts."""

from __future__ import annotations

import pytest

from shardc.layout.show import show
from shardc.plan.resolved import Contract
from tests.plan.support import Said, said_of, spec
from tests.support import resolved, try_resolve

LIKE = spec("""\
config: {hidden: hidden, layers: layers, n: n}
groups:
  attention:
    at: layers.{layer}.attn
    for: {layer: layers}
    when: layer > 0
    let: {channels: heads * 4}
    axes: {heads: {size: n}}
    tensors:
      q.weight: {shape: [channels, hidden], shard: channel_rows}
  mtp:
    at: mtp.attn
    like: attention
  draft:
    at: draft.{i}
    for: {i: 2}
    like: mtp
""")


def test_like_takes_over_let_axes_and_tensors_to_its_own_place() -> None:
    result = resolved(LIKE)
    assert [(entry.group, entry.pattern, len(entry.loops), len(entry.when)) for entry in result.entries] == [
        ("attention", "layers.{layer}.attn.q.weight", 1, 1),
        ("mtp", "mtp.attn.q.weight", 0, 0),
        ("draft", "draft.{i}.q.weight", 1, 0),
    ]
    for entry in result.entries:
        assert entry.path == ("groups", "attention", "tensors", "q.weight")
        assert show(entry.dims[0]) == "heads * 4"
        assert list(entry.axes) == ["heads"]


def test_a_symbol_with_several_keys_and_an_else() -> None:
    text = spec("""\
    config: {n: [a, b.c], m: {key: m, else: n * 2}}
    groups: {all: {tensors: {w: {shape: [m], shard: replicated}}}}
    """)
    symbols = resolved(text).symbols
    assert (symbols["n"].keys, symbols["n"].otherwise) == (("a", "b.c"), None)
    assert symbols["m"].otherwise is not None and show(symbols["m"].otherwise) == "n * 2"


@pytest.mark.parametrize(
    ("axes", "dims"),
    [
        ("{inter: {size: 8}}", ("tp",)),
        ("{experts: {size: 8, over: ep}}", ("tp", "ep")),
        ("{inter: {size: 8}, experts: {size: 8, over: ep}, slabs: {size: 4, over: cp}}", ("tp", "cp", "ep")),
    ],
)
def test_mesh_dims(axes: str, dims: tuple[str, ...]) -> None:
    text = spec(f"""\
    axes: {axes}
    groups: {{all: {{tensors: {{w: {{shape: [1], shard: replicated}}}}}}}}
    """)
    assert resolved(text).mesh_dims == dims


def body(text: str) -> str:
    """A spec whose groups a, b, … are given; each tensor may use hidden, heads, inter and channels."""
    return spec(
        "config: {hidden: hidden}\naxes: {heads: {size: 8}, inter: {size: 8}}\nlet: {channels: heads * 4}\n" + text
    )


A = "groups:\n  a: {tensors: {w: {shape: [hidden], shard: replicated}}}\n"


@pytest.mark.parametrize(
    ("text", "findings"),
    [
        (
            A + "  b: {like: a, at: b, tensors: {v: {shape: [hidden], shard: replicated}}}\n",
            [("SHD101", "`like` takes over the tensors of a: b has none of its own", "tensors")],
        ),
        (
            A + "  b: {like: a, at: b, let: {x: 2}}\n",
            [("SHD101", "`like` takes over the let of a: b has none of its own", "let")],
        ),
        (A + "  b: {like: c, at: b}\n", [("SHD103", "unknown group `c`", "c")]),
        (A + "  b: {like: b, at: b}\n", [("SHD107", "`like` goes in a circle: b -> b", "b")]),
        (
            A + "  d: {like: c, at: d}\n  c: {like: b, at: c}\n  b: {like: d, at: b}\n  e: {like: c, at: e}\n",
            [("SHD107", "`like` goes in a circle: b -> d -> c -> b", "d")],
        ),
        (
            A + "  b: {at: '{i}', for: {i: 2}, let: {i: 2}, tensors: {w: {shape: [i], shard: replicated}}}\n",
            [("SHD105", "the name `i` is given twice", "i")],
        ),
        (
            A + "  b: {let: {channels: 2}, tensors: {v: {shape: [channels], shard: replicated}}}\n",
            [("SHD105", "the name `channels` is given twice", "channels")],
        ),
        (
            A + "  b: {let: {x: y, y: x * 2}, tensors: {v: {shape: [x], shard: replicated}}}\n",
            [("SHD107", "`let` goes in a circle: x, y", "x")],
        ),
        (
            "groups:\n"
            "  a: {at: '{i}', for: {i: 2}, let: {x: 2}, tensors: {w: {shape: [x], shard: replicated}}}\n"
            "  b: {at: 'b.{x}', for: {x: 2}, like: a}\n",
            [("SHD105", "the name `x` is given twice", "x")],
        ),
    ],
)
def test_what_is_said_of_groups(text: str, findings: list[Said]) -> None:
    assert said_of(body(text)) == findings


def test_unknown_group_through_another_is_one_cause() -> None:
    """Both groups that lead there say the very same, so it is shown once."""
    _, findings = try_resolve(body(A + "  b: {like: nowhere, at: b}\n  c: {like: b, at: c}\n"))
    assert findings[0] == findings[1]
    assert (findings[0].message, findings[0].help) == ("unknown group `nowhere`", "groups: a, c")


def test_an_else_in_a_circle() -> None:
    text = spec("""\
    config: {n: {key: n, else: m}, m: {key: m, else: n}}
    groups: {all: {tensors: {w: {shape: [m], shard: replicated}}}}
    """)
    assert said_of(text) == [("SHD107", "`else` goes in a circle: m, n", "m")]


def contract(use: str, fields: str = "") -> str:
    return spec(f"""\
    config: {{hidden: hidden}}
    axes:
      heads: {{size: 8}}
      experts: {{size: 4, over: ep}}
    let: {{channels: heads * 64}}
    contracts:
      - {{use: {use}{fields}}}
    groups: {{all: {{tensors: {{w: {{shape: [hidden], shard: replicated}}}}}}}}
    """)


def read(fields: str) -> Contract:
    [one] = resolved(contract("vocab_64", fields)).contracts
    return one


def test_a_contract() -> None:
    one = read(", with: {rows: local(channels)}, when: hidden > 0")
    assert (show(one.written["rows"]), show(one.given["rows"])) == ("local(channels)", "local(heads * 64)")
    assert show(one.require) == "rows % 64 == 0"
    assert one.when is not None and show(one.when) == "hidden > 0"


@pytest.mark.parametrize(
    ("rows", "over"),
    [
        ("hidden", ("tp",)),
        ("local(channels)", ("tp",)),
        ("local(experts * 64)", ("ep",)),
        ("local(experts) * local(channels)", ("tp", "ep")),
    ],
)
def test_the_mesh_dims_that_a_contract_is_over(rows: str, over: tuple[str, ...]) -> None:
    assert read(f", with: {{rows: {rows}}}").over == over


@pytest.mark.parametrize(
    ("use", "fields", "finding"),
    [
        ("conv", ", with: {rows: 1}", ("SHD106", "unknown contract `conv`", "conv")),
        ("marlin", ", with: {n: 1}", ("SHD101", "`marlin` takes n, k, not n", "{n: 1}")),
        ("vocab_64", ", with: {}", ("SHD101", "`vocab_64` takes rows, not nothing", "{}")),
        ("vocab_64", ", with: {rows: local(vocab)}", ("SHD103", "unknown name `vocab`", "vocab")),
        ("vocab_64", ", with: {rows: channels}", ("SHD203", "`heads * 64` is a layout: its size depends on the rank", "channels")),
        ("vocab_64", ", with: {rows: 1}, when: heads > 1", ("SHD103", "unknown name `heads`", "heads")),
    ],
)  # fmt: skip
def test_what_is_said_of_contracts(use: str, fields: str, finding: Said) -> None:
    assert said_of(contract(use, fields)) == [finding]
