"""Which sizes work, and what stops the others."""

from __future__ import annotations

from shardc.plan.sweep import sweep
from tests.plan.support import PIPELINE_CONFIG, pipeline
from tests.support import bound

SPEC = """\
spec: 1
name: example
architectures: [Example]
dtype: BF16
config: {n: heads, width: width, hidden: hidden}
axes:
  heads: {size: n}
  inter: {size: width}
contracts:
  - {use: causal_conv1d_l2norm, with: {channels: local(2 * heads * 128)}}
groups:
  all:
    tensors:
      q.weight: {shape: [heads * 128, hidden], shard: channel_rows}
      gate.weight: {shape: [inter, hidden], shard: column_parallel, formats: [fp8_block]}
"""


def test_sizes_and_reasons() -> None:
    one = bound(SPEC, {"heads": 8, "width": 512, "hidden": 128})
    tried = sweep(one, [{"tp": n} for n in (1, 2, 3, 8, 16)])
    assert [t.local for t in tried[:2]] == [
        8 * 128 * 128 * 2 + 512 * 128 + 4 * 4,
        (8 * 128 * 128 * 2 + 512 * 128 + 4 * 4) // 2,
    ]
    assert tried[2].reasons == (
        "SHD201 8 heads cannot be dealt to 3 tp ranks: 2.67 each",
        "SHD201 512 inter cannot be dealt to 3 tp ranks: 4 granules of 128, 1.33 (170.67 elements) each",
    )
    assert tried[3].reasons == (
        "SHD201 512 inter cannot be dealt to 8 tp ranks: 4 granules of 128, 0.5 (64 elements) each",
    )
    assert [t.local for t in tried[2:]] == [None, None, None]


def test_a_contract_is_a_reason() -> None:
    one = bound(SPEC, {"heads": 3, "width": 384, "hidden": 128})
    assert sweep(one, [{"tp": 3}])[0].reasons == ()
    odd = bound(SPEC.replace("2 * heads * 128", "heads * 128"), {"heads": 3, "width": 384, "hidden": 128})
    assert sweep(odd, [{"tp": 3}])[0].reasons == ("SHD301 causal_conv1d_l2norm: channels % 256 == 0, channels = 128",)


def test_a_tie_is_a_reason() -> None:
    one = bound(pipeline("first"), PIPELINE_CONFIG)
    assert sweep(one, [{"tp": 1, "pp": 2}])[0].reasons == (
        "SHD401 head.weight is tied to embed.weight, which pp rank 1 of 2 does not have",
    )
