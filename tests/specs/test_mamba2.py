"""Mamba-2 with one group, and with several."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shardc.plan.bound import bind
from shardc.plan.collectives import at_work
from shardc.plan.compile import Compiled, compile_plan
from shardc.plan.evidence import Evidence
from tests.specs.support import kept, spec_named

CONFIG = {
    "architectures": ["Mamba2ForCausalLM"], "hidden_size": 64, "num_hidden_layers": 2, "vocab_size": 256,
    "num_heads": 16, "head_dim": 8, "state_size": 16, "conv_kernel": 4, "n_groups": 1, "use_bias": False,
    "tie_word_embeddings": False,
}  # fmt: skip
MIXER = "backbone.layers.1.mixer."


def compiled(config: Mapping[str, Any], tp: int) -> Compiled:
    return compile_plan(bind(spec_named("mamba2"), Evidence("config.json", config)), {"tp": tp})


def sums_of_squares(config: Mapping[str, Any], tp: int) -> list[str]:
    result = compiled(config, tp)
    assert result.plan is not None
    return [one.pattern for one in at_work(result.plan) if one.what == "sum_of_squares"]


def test_one_group_is_on_every_rank() -> None:
    """z and x have 16 heads of 8 rows, B and C (256 to 288) 16 rows that all heads use, dt a row for each head."""
    rows = [kept("mamba2", CONFIG, tp=4, rank=rank) for rank in range(4)]
    assert [of[MIXER + "in_proj.weight"][0] for of in rows] == [
        [(0, 32), (128, 160), (256, 292)],  # the first dt follows C at once
        [(32, 64), (160, 192), (256, 288), (292, 296)],
        [(64, 96), (192, 224), (256, 288), (296, 300)],
        [(96, 128), (224, 288), (300, 304)],  # B follows the last x at once
    ]
    assert rows[3][MIXER + "out_proj.weight"] == ([(0, 64)], [(96, 128)])


def test_one_group_is_normalised_by_all_ranks_together() -> None:
    assert sums_of_squares(CONFIG, 4) == ["backbone.layers.{layer}.mixer.norm.weight"]
    assert sums_of_squares({**CONFIG, "n_groups": 4}, 4) == []


def test_several_groups_may_not_be_shared() -> None:
    """4 groups of 4 heads over 8 ranks: two heads each."""
    (fault, *_) = compiled({**CONFIG, "n_groups": 4}, 8).contracts
    assert fault.values == {"heads": 2, "heads_per_group": 4}
    rows = kept("mamba2", {**CONFIG, "n_groups": 4}, tp=4, rank=1)
    assert rows[MIXER + "conv1d.bias"] == ([(32, 64), (144, 160), (208, 224)],)
