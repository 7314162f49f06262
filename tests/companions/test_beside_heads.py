"""Tensors beside attention heads: sinks, ALiBi slopes, biases. 4 heads of 2, 2 kv heads, 4 ranks."""

from __future__ import annotations

from pathlib import Path

from tests.companions.conftest import ModelOf
from tests.seeds.model import numbered, write_checkpoint

CONFIG = {"hidden_size": 8, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 2}
SHAPES = {
    "self_attn.sinks": (4,),
    "self_attn.alibi_slopes": (4,),
    "self_attn.v_proj.bias": (4,),
    "self_attn.o_proj.weight": (8, 8),
    "self_attn.o_proj.bias": (8,),
}


def test_what_ranks_keep(model_of: ModelOf) -> None:
    model = model_of("beside_heads")
    ranks = [model.kept(CONFIG, tp=(rank, 4)) for rank in range(4)]
    at = {name.removeprefix("self_attn."): [rank[name].at[-1] for rank in ranks] for name in SHAPES}
    each_its_own = [((0, 1, 0),), ((1, 2, 0),), ((2, 3, 0),), ((3, 4, 0),)]
    assert at == {
        "sinks": each_its_own,
        "alibi_slopes": each_its_own,
        "v_proj.bias": [((0, 2, 0),), ((0, 2, 0),), ((2, 4, 0),), ((2, 4, 0),)],
        "o_proj.weight": [((0, 2, 0),), ((2, 4, 0),), ((4, 6, 0),), ((6, 8, 0),)],
        "o_proj.bias": [((0, 8, 0),), ((0, 0, 8),), ((0, 0, 8),), ((0, 0, 8),)],
    }


def test_loaded_numbers(model_of: ModelOf, tmp_path: Path) -> None:
    directory = write_checkpoint(tmp_path / "saved", CONFIG, {name: numbered(shape) for name, shape in SHAPES.items()})
    loaded = [model_of("beside_heads").module.load(directory, tp_rank=rank, tp_size=4) for rank in range(4)]
    assert [part["self_attn.sinks"].tolist() for part in loaded] == [[0], [1], [2], [3]]
    assert [part["self_attn.alibi_slopes"].tolist() for part in loaded] == [[0], [1], [2], [3]]
    assert [part["self_attn.v_proj.bias"].tolist() for part in loaded] == [[0, 1], [0, 1], [2, 3], [2, 3]]
    assert loaded[2]["self_attn.o_proj.weight"][1].tolist() == [12, 13]
    biases = [part["self_attn.o_proj.bias"] for part in loaded]
    assert biases[0].tolist() == [0, 1, 2, 3, 4, 5, 6, 7]
    assert [bias.tolist() for bias in biases[1:]] == [[0] * 8] * 3
