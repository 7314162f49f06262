"""A plan sheet as a reviewer reads it."""

from __future__ import annotations

import pytest

from shardc.review.sheets.sheet import MARK
from tests.plan.support import spec
from tests.review.sheets.support import lines_of, sheet_of

MODEL = spec("""\
axes:
  kv_heads: {size: 2, if_fewer: replicate}
  heads: {size: 4, within: kv_heads}
  inter: {size: 11, if_uneven: spread}
  vocab: {size: 10, pad_to: 4}
  experts: {size: 4, over: ep}
  layers: {size: 3, over: pp, if_uneven: spread}
contracts:
  - {use: vocab_64, with: {rows: local(heads * 64)}}
groups:
  top:
    only: {pp: first}
    tensors: {embed.weight: {shape: [vocab, 32], shard: vocab_rows}}
  attention:
    at: layers.{layer}
    for: {layer: layers}
    tensors:
      norm.weight: {shape: [32], shard: replicated, dtype: {file: F32, load: BF16}}
      q.weight: {shape: [heads * 8, 32], shard: channel_rows}
      kv.weight: {shape: [kv_heads * 8 | kv_heads * 8, 32], shard: segmented_rows}
      o.weight: {shape: [32, heads * 8], shard: channel_cols}
      o.bias: {shape: [32], shard: rank0}
      up.weight: {shape: [inter, 32], shard: column_parallel}
  experts:
    at: layers.{layer}.experts.{expert}
    for: {layer: layers, expert: experts}
    tensors: {up.weight: {shape: [4, 32], shard: expert_slices, formats: [nvfp4]}}
targets:
  - {checkpoint: example, tp: [1, 2], ep: [1, 2], pp: [1, 2]}
  - {checkpoint: example, tp: [3]}
""")
SHEET = """\
# Plan sheet by shardc build. Edit spec.yaml, not this file.
# example: 55 tensors; docs/plan-sheets.md says how to read it
# claimed: tp 1, 2; ep 1, 2; pp 1, 2
# claimed: tp 3

tensor                                    dtype                     tp=1              tp=2              tp=3            (tp=4)            (tp=8)           (tp=16)           (tp=32)           (tp=64)  shard
------                                    -----                     ----              ----              ----            ------            ------           -------           -------           -------  -----
embed.weight                              BF16                   10 x 32          * 6 x 32          * 4 x 32          * 3 x 32          * 2 x 32          * 1 x 32          * 1 x 32          * 1 x 32  vocab_rows; pp first
layers.*.norm.weight x3                   F32 to BF16                 32                32                32                32                32                32                32                32  replicated; layers over pp
layers.*.q.weight x3                      BF16                   32 x 32           16 x 32            SHD201            8 x 32            SHD204            SHD204            SHD204            SHD204  channel_rows; layers over pp
layers.*.kv.weight x3                     BF16                   32 x 32         * 16 x 32            SHD201         * 16 x 32         * 16 x 32         * 16 x 32         * 16 x 32         * 16 x 32  segmented_rows; layers over pp
layers.*.o.weight x3                      BF16                   32 x 32           32 x 16            SHD201            32 x 8            SHD204            SHD204            SHD204            SHD204  channel_cols; layers over pp
layers.*.o.bias x3                        BF16                        32              * 32            SHD201              * 32            SHD204            SHD204            SHD204            SHD204  rank0; layers over pp
layers.*.up.weight x3                     BF16                   11 x 32       * 5..6 x 32       * 3..4 x 32       * 2..3 x 32       * 1..2 x 32            SHD201            SHD201            SHD201  column_parallel; layers over pp
layers.*.experts.*.up.weight x12          U8                      4 x 16            4 x 16            4 x 16            4 x 16            4 x 16            4 x 16            4 x 16            4 x 16  expert_slices; layers over pp, experts over ep
layers.*.experts.*.up.weight_scale x12    F8_E4M3                  4 x 2             4 x 2             4 x 2             4 x 2             4 x 2             4 x 2             4 x 2             4 x 2  expert_slices; layers over pp, experts over ep
layers.*.experts.*.up.weight_scale_2 x12  F32                     scalar            scalar            scalar            scalar            scalar            scalar            scalar            scalar  replicated; layers over pp, experts over ep

per rank                                                         22480 B    11856..12048 B                 -      8016..8208 B                 -                 -                 -                 -
replicated                                                       0.0 MiB            1104 B                 -            4176 B                 -                 -                 -                 -
padding, at most                                                 0.0 MiB             320 B                 -             320 B                 -                 -                 -                 -
per rank, pp=2                                             7280..15200 B      3824..8160 B
per rank, ep=2                                                   22024 B    11400..11592 B
per rank, ep=2, pp=2                                       7128..14896 B      3672..7856 B

vocab_64: rows                                                       256               128                 -                64                 -                 -                 -                 -  rows % 64 == 0

tp=3: SHD201 2 kv_heads cannot be dealt to 3 tp ranks: fewer than the ranks, and 3 is not a multiple of 2
tp=8: SHD204 2 heads of one kv_heads cannot be shared by 4 ranks
tp=16: SHD201 11 inter cannot be dealt to 16 tp ranks: 0.69 each
tp=16: SHD204 2 heads of one kv_heads cannot be shared by 8 ranks
tp=32: SHD201 11 inter cannot be dealt to 32 tp ranks: 0.34 each
tp=32: SHD204 2 heads of one kv_heads cannot be shared by 16 ranks
tp=64: SHD201 11 inter cannot be dealt to 64 tp ranks: 0.17 each
tp=64: SHD204 2 heads of one kv_heads cannot be shared by 32 ranks

* rows                        mesh      rank r keeps (a..b: from a, without b; a..+n: n from a)
------                        ----      -------------------------------------------------------
embed.weight, dim 0           tp=2      r=0: 0..6; r=1: 6..10, 2 zero
embed.weight, dim 0           tp=3      r=0: 0..4; r=1: 4..8; r=2: 8..10, 2 zero
embed.weight, dim 0           tp=4      r=0-2: 3r..+3; r=3: 9..10, 2 zero
embed.weight, dim 0           tp=8      r=0-4: 2r..+2; r=5-7: 2 zero
embed.weight, dim 0           tp=16     r=0-9: r..+1; r=10-15: 1 zero
embed.weight, dim 0           tp=32     r=0-9: r..+1; r=10-31: 1 zero
embed.weight, dim 0           tp=64     r=0-9: r..+1; r=10-63: 1 zero
layers.*.kv.weight, dim 0     tp=2      8r..+8, 16+8r..+8
layers.*.kv.weight, dim 0     tp=4      8(r//2)..+8, 16+8(r//2)..+8
layers.*.kv.weight, dim 0     tp=8      8(r//4)..+8, 16+8(r//4)..+8
layers.*.kv.weight, dim 0     tp=16     8(r//8)..+8, 16+8(r//8)..+8
layers.*.kv.weight, dim 0     tp=32     8(r//16)..+8, 16+8(r//16)..+8
layers.*.kv.weight, dim 0     tp=64     8(r//32)..+8, 16+8(r//32)..+8
layers.*.o.bias, dim 0        tp=2      r=0: 0..32; r=1: 32 zero
layers.*.o.bias, dim 0        tp=4      r=0: 0..32; r=1-3: 32 zero
layers.*.up.weight, dim 0     tp=2      r=0: 0..6; r=1: 6..11
layers.*.up.weight, dim 0     tp=3      r=0: 0..4; r=1: 4..8; r=2: 8..11
layers.*.up.weight, dim 0     tp=4      r=0-2: 3r..+3; r=3: 9..11
layers.*.up.weight, dim 0     tp=8      r=0-2: 2r..+2; r=3-7: 3+r..+1

names, and other mesh dims    mesh  rank r keeps (a..b: from a, without b; a..+n: n from a)
--------------------------    ----  -------------------------------------------------------
experts                       ep=2  2r..+2
layers                        pp=2  r=0: 0..2; r=1: 2..3

collective after      what                  over
----------------      ----                  ----
embed.weight          masked_all_reduce     tp
layers.*.o.weight     all_reduce            tp
"""


def test_a_sheet_of_everything() -> None:
    """Sizes that do not work, ranks that differ, replicas, a cast, a format, experts over ep, stages, a contract."""
    assert sheet_of(MODEL) == SHEET


def test_its_form() -> None:
    assert SHEET.startswith(MARK) and SHEET.endswith("\n") and not SHEET.endswith("\n\n")
    assert SHEET.isascii()
    assert [line for line in SHEET.splitlines() if line != line.rstrip()] == []


@pytest.mark.parametrize("word", ["DO NOT EDIT", "generated", "@generated", "Code generated"])
def test_it_does_not_call_itself_generated(word: str) -> None:
    """GitHub folds away what says so in its first lines."""
    assert word not in SHEET


def test_a_tied_tensor_that_the_file_lacks() -> None:
    text = spec("""\
    axes: {vocab: {size: 8}}
    groups:
      top:
        tensors:
          embed.weight: {shape: [vocab, 4], shard: vocab_rows}
          lm_head.weight: {shape: [vocab, 4], shard: vocab_rows, tied_to: embed.weight}
    targets: [{checkpoint: example, tp: [1, 2]}]
    """)
    lines = lines_of(sheet_of(text, headers={"embed.weight": ("BF16", (8, 4))}))
    assert "lm_head.weight - - - - - - - tied to embed.weight" in lines
    assert lines[-2:] == ["embed.weight masked_all_reduce tp", "lm_head.weight gather tp"]


def test_a_spec_that_tp_does_not_split_has_the_sizes_that_are_claimed() -> None:
    text = spec("""\
    axes: {experts: {size: 4, over: ep}}
    groups: {top: {tensors: {w: {shape: [experts, 2, 2], shard: expert_slices}}}}
    targets: [{checkpoint: example, ep: [2, 4]}]
    """)
    assert lines_of(sheet_of(text))[4:] == [
        "tensor dtype (tp=1) shard",
        "w BF16 4 x 2 x 2 expert_slices",
        "",
        "per rank 32 B",
        "replicated 0.0 MiB",
        "per rank, ep=2 16 B",
        "per rank, ep=4 8 B",
        "",
        "names, and other mesh dims mesh rank r keeps (a..b: from a, without b; a..+n: n from a)",
        "w, dim 0 ep=2 2r..+2",
        "w, dim 0 ep=4 r..+1",
    ]


def test_names_that_tp_selects() -> None:
    text = spec("""\
    axes: {experts: {size: 4}}
    groups: {e: {at: "e.{e}", for: {e: experts}, tensors: {w: {shape: [2, 2], shard: expert_slices}}}}
    targets: [{checkpoint: example, tp: [1, 2]}]
    """)
    lines = lines_of(sheet_of(text))
    assert "e.*.w x4 BF16 2 x 2 2 x 2 2 x 2 SHD201 SHD201 SHD201 SHD201 expert_slices; experts over tp" in lines
    assert lines[-2:] == ["experts tp=2 2r..+2", "experts tp=4 r..+1"]


def test_rows_of_one_name_are_told_apart() -> None:
    text = spec("""\
    axes: {inter: {size: 8}}
    groups:
      layer:
        at: layers.{layer}
        for: {layer: 2}
        tensors: {w: {shape: [inter | inter, 2], shard: segmented_rows, dtype: [BF16, F32]}}
    targets: [{checkpoint: example, tp: [2]}]
    """)
    headers = {"layers.0.w": ("F32", (16, 2)), "layers.1.w": ("BF16", (16, 2))}
    lines = lines_of(sheet_of(text, headers=headers))
    assert [line for line in lines if line.startswith("layers") and "tp=2" in line] == [
        "layers.*.w (F32; segmented_rows), dim 0 tp=2 4r..+4, 8+4r..+4",
        "layers.*.w (BF16; segmented_rows), dim 0 tp=2 4r..+4, 8+4r..+4",
    ]


def test_a_contract_that_does_not_hold() -> None:
    text = spec("""\
    axes: {vocab: {size: 384}}
    contracts: [{use: vocab_64, with: {rows: local(vocab)}}]
    groups: {top: {tensors: {embed.weight: {shape: [vocab, 4], shard: vocab_rows}}}}
    targets: [{checkpoint: example, tp: [1, 2]}]
    """)
    lines = lines_of(sheet_of(text))
    assert "vocab_64: rows 384 192 SHD301 SHD301 SHD301 SHD301 SHD301 rows % 64 == 0" in lines
    assert "tp=4: SHD301 vocab_64: rows % 64 == 0, rows = 96" in lines
    assert "embed.weight BF16 384 x 4 192 x 4 96 x 4 48 x 4 24 x 4 12 x 4 6 x 4 vocab_rows" in lines
    assert "per rank 3072 B 1536 B - - - - -" in lines


def test_a_collective_that_some_sizes_do_without() -> None:
    """An axis that cannot be dealt evenly is whole on every rank: there is nothing to sum."""
    text = spec("""\
    axes: {inter: {size: 12, if_uneven: whole}}
    groups: {top: {tensors: {down.weight: {shape: [4, inter], shard: row_parallel}}}}
    targets: [{checkpoint: example, tp: [1, 2, 3]}]
    """)
    lines = lines_of(sheet_of(text))
    assert lines[-1] == "down.weight all_reduce tp not at tp=8, tp=16, tp=32, tp=64"
    assert "down.weight BF16 4 x 12 4 x 6 4 x 4 4 x 3 4 x 12 4 x 12 4 x 12 4 x 12 row_parallel" in lines
