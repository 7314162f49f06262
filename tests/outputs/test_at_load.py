"""What only the loader can say of outputs: by the dtype that is asked for, the tensors that are given, and the config."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from tests.outputs.test_refusals import F32, PAIR, STACK, layer
from tests.seeds.model import Model, numbered, write_checkpoint
from tests.support import bound

ModelOf = Callable[[str], Model]


def test_a_cast_of_some_members(model_of: ModelOf, tmp_path: Path) -> None:
    """`dtype=` casts tensors of the default dtype, and not those with one of their own."""
    model = model_of("""\
    groups:
      pair:
        tensors:
          a: {shape: [2], shard: replicated}
          b: {shape: [2], shard: replicated, dtype: F32}
        outputs:
          ab: {concat: [a, b]}
    """)
    directory = write_checkpoint(tmp_path / "checkpoint", {}, {"a": numbered((2,)), "b": numbered((2,))})
    with pytest.raises(model.module.rt.ShardError) as refused:
        model.module.load(directory, dtype=torch.float16)
    assert refused.value.findings == (("SHD420", "ab would be of several dtypes: a in F16; b in F32"),)


def test_some_tensors_in_memory(model_of: ModelOf) -> None:
    model = model_of(PAIR)
    given = layer(0, a=F32, b=F32)
    with pytest.raises(model.module.rt.ShardError) as refused:
        model.module.shard_tensors(given, {}, tp_rank=0, tp_size=2)
    message = "layers.0.all.weight would be built of layers.0.a.weight, layers.0.b.weight without layers.0.e.weight, layers.0.c.weight, layers.0.d.weight"
    assert refused.value.findings == (("SHD401", message),)
    parts = model.module.shard_tensors(given, {}, tp_rank=0, tp_size=2, fused=False)
    assert {name: tuple(part.shape) for name, part in parts.items()} == dict.fromkeys(given, (2, 2))


def test_experts_of_other_ranks_may_lack_in_memory(model_of: ModelOf) -> None:
    """What a rank does not build need not be given."""
    model = model_of(STACK)
    parts = model.module.shard_tensors({"experts.1.a": numbered((2,))}, {}, mesh={"ep": (1, 2)})
    assert parts["experts.w"].tolist() == [[0, 1]]


def test_a_config_that_the_layouts_do_not_fit(model_of: ModelOf, tmp_path: Path) -> None:
    """The loader counts the rows of a permutation in every checkpoint that it is given."""
    model = model_of("""\
    config: {rows: rows, half: half}
    axes: {heads: {size: 2}}
    groups:
      all:
        tensors:
          a: {shape: [heads * rows, 1], shard: channel_rows}
        outputs:
          a: {permute: a, from: heads * 2 * half, to: heads * half * 2}
    """)
    config = {"rows": 4, "half": 3}
    headers = {"a": ("F32", (8, 1))}
    [fault] = bound(model.text, config, headers).outputs.faults
    assert (fault.code, fault.message) == ("SHD230", "a: `heads * 2 * half` does not cut its 8 rows as its shape does")
    directory = write_checkpoint(tmp_path / "checkpoint", config, {"a": numbered((8, 1))})
    with pytest.raises(model.module.rt.ShardError) as refused:
        model.module.load(directory, tp_rank=0, tp_size=2)
    assert refused.value.findings == (("SHD230", "a: 6 rows of a are permuted, and a rank has 4"),)
