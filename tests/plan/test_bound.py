"""What a config and headers decide, whatever the mesh: granules, absences, families."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from shardc.plan.bound import Bound
from shardc.plan.evidence import Header
from tests.plan.support import said, spec
from tests.support import bound


def one_tensor(axes: str, shape: str, formats: str) -> Bound:
    text = spec(f"""\
    axes: {axes}
    groups:
      all: {{tensors: {{w.weight: {{shape: {shape}, shard: replicated, formats: [{formats}]}}}}}}
    """)
    return bound(text, {})


@pytest.mark.parametrize(
    ("axes", "shape", "formats", "granules"),
    [
        pytest.param("{heads: {size: 8}}", "[heads * 64, 256]", "dense", {}, id="a dense tensor asks for nothing"),
        pytest.param("{heads: {size: 8}}", "[heads * 128, 256]", "fp8_block", {}, id="a head is a block"),
        pytest.param("{heads: {size: 8}}", "[heads * 64, 256]", "fp8_block", {"heads": 2}, id="two heads a block"),
        pytest.param("{heads: {size: 8}}", "[heads * 192, 256]", "fp8_block", {"heads": 2}, id="384 is 3 blocks"),
        pytest.param("{inter: {size: 512}}", "[inter, 256]", "fp8_block", {"inter": 128}, id="rows"),
        pytest.param("{inter: {size: 512}}", "[256, inter]", "nvfp4", {"inter": 16}, id="groups of 16, 2 to a byte"),
        pytest.param("{inter: {size: 512}}", "[inter, 256]", "nvfp4", {}, id="rows of nvfp4 are single"),
        pytest.param("{inter: {size: 512}}", "[256, inter]", "awq", {"inter": 128}, id="groups, by the format alone"),
        pytest.param("{inter: {size: 512}}", "[inter, 256]", "awq", {"inter": 8}, id="values in a word"),
        pytest.param("{inter: {size: 512}}", "[inter, 256]", "w4a16_ct", {}, id="zero points that are not there"),
        pytest.param("{inter: {size: 512}}", "[256, inter]", "w4a16_ct", {"inter": 8}, id="words alone: one group"),
        pytest.param("{inter: {size: 512}}", "[256, inter]", "mxfp4", {"inter": 32}, id="blocks"),
        pytest.param("{inter: {size: 512}}", "[inter * 2 | inter, 256]", "fp8_block", {"inter": 128}, id="lcm of 64, 128"),
        pytest.param(
            "{kv_heads: {size: 4}, heads: {size: 8, within: kv_heads}}", "[heads * 16, 256]", "fp8_block",
            {"kv_heads": 4}, id="two heads of 16 are 32 rows of a kv head",
        ),
        pytest.param(
            "{kv_heads: {size: 4}, heads: {size: 8, within: kv_heads}}", "[kv_heads * (heads per kv_heads * 16 | 32), 256]",
            "fp8_block", {"kv_heads": 4}, id="both by themselves in a fused tensor",
        ),
        pytest.param(
            "{a: {size: 2}, b: {size: 4, within: a}, c: {size: 12, within: b}}", "[256, c * 4]", "nvfp4",
            {"a": 2}, id="through two parents: 6 of 4 are 24",
        ),
    ],
)  # fmt: skip
def test_granules(axes: str, shape: str, formats: str, granules: dict[str, int]) -> None:
    assert dict(one_tensor(axes, shape, formats).granules) == granules


def test_the_grain_says_who_asks() -> None:
    one = one_tensor("{kv_heads: {size: 4}, heads: {size: 8, within: kv_heads}}", "[heads * 16, 256]", "fp8_block")
    [grain] = one.grains
    assert (grain.axis, grain.granule, grain.unit, grain.stride, grain.format) == ("kv_heads", 4, 128, 32, "fp8_block")
    assert grain.family.names == ("w.weight",)


def test_granules_of_all_tensors_and_of_the_spec_are_multiplied_out() -> None:
    text = spec("""\
    axes: {heads: {size: 96, granule: 3}}
    groups:
      all:
        tensors:
          q.weight: {shape: [heads * 64, 256], shard: channel_rows, formats: [fp8_block]}
          o.weight: {shape: [256, heads * 4], shard: channel_cols, formats: [nvfp4]}
    """)
    one = bound(text, {})
    assert dict(one.granules) == {"heads": 4}
    split = one.split(one.resolved.axes["heads"], {}, 8, None)
    assert split.granule == 12
    assert [share.local for share in split.shares] == [12] * 8


OPTIONAL = spec("""\
config: {tied: tied, layers: layers}
groups:
  all:
    tensors:
      embed.weight: {shape: [64], shard: replicated}
      head.weight: {shape: [64], shard: replicated, tied_to: {name: embed.weight, when: tied}}
  layers:
    at: "{layer}"
    for: {layer: layers}
    tensors:
      norm.bias: {shape: [64], shard: replicated, optional: true}
      up.weight: {shape: [256, 256], shard: replicated, optional: true, formats: [dense, fp8_block]}
""")
ALWAYS = {"embed.weight": ("BF16", (64,))}
HEAD = {"head.weight": ("BF16", (64,))}


def names(tied: bool, headers: Mapping[str, Header] | None) -> tuple[list[str], dict[str, str]]:
    one = bound(OPTIONAL, {"tied": tied, "layers": 2}, headers)
    return [name for family in one.families for name in family.names], one.absent


LAYERS = ["0.norm.bias", "1.norm.bias", "0.up.weight", "1.up.weight"]


@pytest.mark.parametrize(
    ("tied", "headers", "expected", "absent"),
    [
        pytest.param(False, None, ["embed.weight", "head.weight", *LAYERS], {}, id="no headers, not tied"),
        pytest.param(True, None, ["embed.weight", *LAYERS], {"head.weight": "embed.weight"}, id="no headers, tied"),
        pytest.param(True, ALWAYS, ["embed.weight"], {"head.weight": "embed.weight"}, id="tied and absent"),
        pytest.param(True, {**ALWAYS, **HEAD}, ["embed.weight", "head.weight"], {}, id="tied and there"),
        pytest.param(False, ALWAYS, ["embed.weight", "head.weight"], {}, id="required, though absent"),
        pytest.param(
            True, {**ALWAYS, "1.norm.bias": ("BF16", (64,)), "0.up.weight": ("BF16", (256, 256))},
            ["embed.weight", "1.norm.bias", "0.up.weight"], {"head.weight": "embed.weight"}, id="one layer has it",
        ),
        pytest.param(
            True, {**ALWAYS, "1.up.weight_scale_inv": ("F32", (2, 2))},
            ["embed.weight", "1.up.weight"], {"head.weight": "embed.weight"}, id="a companion alone counts",
        ),
    ],
)  # fmt: skip
def test_absences(tied: bool, headers: dict[str, Header] | None, expected: list[str], absent: dict[str, str]) -> None:
    assert names(tied, headers) == (expected, absent)


def test_shapes_and_the_mesh_dims_that_cut_them() -> None:
    text = spec("""\
    config: {n: n}
    axes: {heads: {size: n}, experts: {size: 4, over: ep}}
    groups:
      all:
        tensors:
          up: {shape: [experts, heads * 2 | 8, 16], shard: expert_slices + segmented_rows}
          bias: {shape: [16], shard: rank0}
          mixed: {shape: [experts * (heads | 2)], shard: column_parallel}
    """)
    assert [(family.shape, family.over) for family in bound(text, {"n": 8}).families] == [
        ((4, 24, 16), (("ep",), ("tp",), ())),
        ((16,), (("tp",),)),
        ((40,), (("ep", "tp"),)),
    ]


def test_symbols_without_a_value_are_all_that_is_reported() -> None:
    text = OPTIONAL.replace("shape: [64], shard: replicated}", "shape: [layers], shard: replicated}")
    one = bound(text, {"tied": True})
    assert said(one.findings, text) == [("SHD108", "config has no layers", "layers")]
    assert one.families == []
