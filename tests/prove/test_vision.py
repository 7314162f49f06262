"""Models that take pictures: they see one in a proof, and answer to text alone as well."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from shardc.prove import reference
from shardc.prove.families import family_of
from shardc.prove.family import Family
from shardc.prove.small import read_small
from tests.prove.support import SMALL

#: Of each small config, a weight that only pictures come by.
TOWERS = {
    "gemma3": "model.vision_tower.encoder.layers.0.mlp.fc2.weight",
    "gemma4": "model.vision_tower.encoder.layers.0.mlp.down_proj.linear.weight",
    "llama4": "vision_model.model.layers.1.self_attn.o_proj.weight",
    "qwen3_vl_moe": "model.visual.blocks.1.attn.proj.weight",
}


def built(name: str) -> tuple[Any, Family]:
    """The model of a small config, and its family."""
    config = read_small(SMALL / f"{name}.json")
    model = reference.build(config)
    family = family_of(config["model_type"])
    reference.randomise(model, family)
    return model, family


@pytest.mark.parametrize("name", TOWERS)
def test_the_vision_tower_counts(name: str) -> None:
    model, family = built(name)
    ids = reference.inputs(model.config, family)
    assert (ids == model.config.image_token_id).sum(dim=1).tolist() == [family.places(model.config)] * 2
    text = ids.clamp(min=3)
    with torch.no_grad():
        before = reference.ask(model, family, ids), reference.ask(model, family, text)
        model.get_parameter(TOWERS[name])[::2].neg_()
        after = reference.ask(model, family, ids), reference.ask(model, family, text)
    assert float((after[0] - before[0]).abs().max()) > 0.1
    assert torch.equal(after[1], before[1])
