"""A model's weights go to published names and back; local tensors of any size take their places."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from shardc.prove import reference
from shardc.prove.families import family_of
from shardc.prove.files import to_file, to_memory
from shardc.prove.small import read_small
from tests.prove.support import CONFIGS, SMALL

LLAMA = read_small(SMALL / "llama.json")


@pytest.mark.parametrize("config", CONFIGS, ids=[path.stem for path in CONFIGS])
def test_there_and_back(config: Path) -> None:
    data = read_small(config)
    family = family_of(data["model_type"])
    model, other = reference.build(data), reference.build(data)
    reference.randomise(model, family)
    to_memory(other, family, data, to_file(model, family, data))
    wanted, found = model.state_dict(), other.state_dict()
    assert wanted.keys() == found.keys()
    assert [name for name in wanted if not torch.equal(wanted[name], found[name])] == []


def test_a_tensor_without_a_place() -> None:
    model = reference.build(LLAMA)
    with pytest.raises(
        ValueError, match=r"^model\.extra has no place in LlamaForCausalLM: model\.extra is none of its"
    ):
        to_memory(model, family_of("llama"), LLAMA, {"model.extra": torch.ones(2)})


def test_a_weight_without_a_tensor() -> None:
    model = reference.build(LLAMA)
    tensors = to_file(model, family_of("llama"), LLAMA)
    del tensors["model.layers.1.mlp.up_proj.weight"]
    with pytest.raises(ValueError, match=r"^no tensor for model\.layers\.1\.mlp\.up_proj\.weight$"):
        to_memory(model, family_of("llama"), LLAMA, tensors)


def test_a_tensor_with_other_dims() -> None:
    model = reference.build(LLAMA)
    tensors = {**to_file(model, family_of("llama"), LLAMA), "model.norm.weight": torch.ones(64, 1)}
    with pytest.raises(ValueError, match=r"^model\.norm\.weight has 1 dims, and the rank's tensor 2: \[64, 1\]$"):
        to_memory(model, family_of("llama"), LLAMA, tensors)


def test_a_rank_has_its_own_sizes() -> None:
    model = reference.build(LLAMA)
    tensors = to_file(model, family_of("llama"), LLAMA)
    tensors["model.layers.0.mlp.up_proj.weight"] = torch.ones(48, 64)
    sources = to_memory(model, family_of("llama"), LLAMA, tensors)
    assert model.model.layers[0].mlp.up_proj.weight.shape == (48, 64)
    assert sources["model.layers.0.mlp.up_proj.weight"] == ("model.layers.0.mlp.up_proj.weight",)


def test_a_weight_that_another_process_has_is_no_number() -> None:
    data = read_small(SMALL / "glm5_next.json")
    model = reference.build(data)
    tensors = to_file(model, family_of("glm5_next"), data)
    text = {name: tensor for name, tensor in tensors.items() if not name.startswith("model.visual.")}
    sources = to_memory(model, family_of("glm5_next"), data, text)
    assert not any(name.startswith("model.visual.") for name in sources)
    assert {bool(one.isnan().all()) for one in model.model.visual.state_dict().values()} == {True}
    assert not any(one.isnan().any() for one in model.model.language_model.state_dict().values())
