"""Stages of a pipeline: what stands before the layers is on the first, what stands behind them on the last."""

from __future__ import annotations

import pytest

from shardc.plan.compile import compile_plan
from tests.specs.support import bound_to
from tests.support import rows


def names(spec: str, table: str, stage: int, stages: int = 3) -> set[str]:
    result = compile_plan(bound_to(spec, table), {"tp": 1, "ep": 1, "pp": stages})
    assert result.ok and result.plan is not None
    return set(rows(result.plan, {"tp": 0, "ep": 0, "pp": stage}))


def layers(found: set[str], prefix: str = "model.layers.") -> list[int]:
    return sorted({int(name.removeprefix(prefix).split(".")[0]) for name in found if name.startswith(prefix)})


def others(found: set[str], prefix: str = "model.layers.") -> set[str]:
    return {name for name in found if not name.startswith(prefix)}


@pytest.mark.parametrize(
    ("stage", "of_the_stage", "rest"),
    [
        (0, range(10), {"model.embed_tokens.weight"}),
        (1, range(10, 19), set()),
        (2, range(19, 28), {"model.embed_tokens.weight", "model.norm.weight"}),
    ],
)
def test_a_tied_head_takes_the_embedding_to_the_last_stage(stage: int, of_the_stage: range, rest: set[str]) -> None:
    """28 layers over 3 stages are 10, 9 and 9. The file has no head."""
    found = names("qwen3", "qwen3-1.7b", stage)
    assert layers(found) == list(of_the_stage)
    assert others(found) == rest
    assert len(found) == 11 * len(of_the_stage) + len(rest)


def test_a_head_of_its_own() -> None:
    stages = [others(names("llama", "llama-3.1-8b", stage)) for stage in range(3)]
    assert stages == [{"model.embed_tokens.weight"}, set(), {"model.norm.weight", "lm_head.weight"}]


def test_mtp_is_behind_the_last_layer() -> None:
    """DeepSeek-V3: 61 layers are 21, 20 and 20; layer 61 is the MTP layer, with an embedding and a head of its own."""
    first, middle, last = (names("deepseek_v3", "deepseek-v3-fp8", stage) for stage in range(3))
    assert [layers(first), layers(middle), layers(last)] == [[*range(21)], [*range(21, 41)], [*range(41, 62)]]
    assert {"model.layers.61.embed_tokens.weight", "model.layers.61.shared_head.head.weight"} <= last
    assert others(first) == {"model.embed_tokens.weight"}
    assert others(last) == {"model.norm.weight", "lm_head.weight"}


@pytest.mark.parametrize(
    ("spec", "table", "embedding"),
    [
        ("deepseek_v3", "glm-5", "model.embed_tokens.weight"),
        ("deepseek_v4", "deepseek-v4-flash", "embed.weight"),
        ("qwen3_5", "qwen3.5-35b-a3b", "model.language_model.embed_tokens.weight"),
    ],
)
def test_mtp_without_an_embedding_of_its_own(spec: str, table: str, embedding: str) -> None:
    assert [embedding in names(spec, table, stage) for stage in range(3)] == [True, False, True]


def test_no_mtp_no_second_embedding() -> None:
    """A pruned Qwen3.5 lacks the MTP layer that its config counts."""
    embedding = "model.language_model.embed_tokens.weight"
    assert [embedding in names("qwen3_5", "qwen3.5-18b-reap", stage) for stage in range(3)] == [True, False, False]


def test_a_vision_tower_feeds_the_first_layer() -> None:
    first, middle, last = (
        others(names("gemma3", "gemma-3-27b-medgemma", stage), "language_model.model.layers.") for stage in range(3)
    )
    embedding = "language_model.model.embed_tokens.weight"
    assert {embedding, "multi_modal_projector.mm_input_projection_weight"} <= first
    assert "vision_tower.vision_model.encoder.layers.26.mlp.fc2.weight" in first
    assert (middle, last) == (set(), {embedding, "language_model.model.norm.weight"})
