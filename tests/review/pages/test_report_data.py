"""A report as data: the head, the groups, and what is not in the file."""

from __future__ import annotations

from tests.review.pages.reports import data_of, mesh_named


def test_the_head() -> None:
    data = data_of("glm5_next", "glm-5.3-flash")
    assert data["architectures"] == ["Glm5NextForConditionalGeneration"]
    assert data["about"].startswith("GLM-5.3-Flash. KDA linear attention")
    assert (data["spec"], data["checkpoint"], data["tensors"]) == ("glm5_next", "glm-5.3-flash", 75_761)
    assert data["ignored"] == [["model.visual.*", "the vision tower is served by another process"]]


def test_the_first_mesh_and_its_order() -> None:
    data = data_of("glm5_next", "glm-5.3-flash")
    assert data["meshes"][data["shown"]]["name"] == "tp=8"
    assert mesh_named(data, "tp=2 ep=4")["mesh"] == [["tp", 2], ["ep", 4], ["pp", 1]]


def test_groups_say_where_they_stand_and_what_they_run_over() -> None:
    groups = {group["name"]: group for group in data_of("glm5_next", "glm-5.3-flash")["groups"]}
    assert groups["experts"] == {
        "name": "experts",
        "at": "model.language_model.layers.{layer}.mlp.experts.{expert}",
        "for": ["layer in layers", "expert in experts"],
    }
    assert groups["mtp"]["for"] == ["layer in num_layers..num_layers + mtp_layers"]


def test_a_tied_tensor_that_the_file_lacks() -> None:
    assert data_of("gemma", "gemma-2b")["absent"] == [["lm_head.weight", "model.embed_tokens.weight"]]


def test_values_of_the_config_are_short() -> None:
    symbols = dict(data_of("glm5_next", "glm-5.3-flash")["symbols"])
    assert (symbols["hidden"], symbols["num_heads"]) == ("4096", "64")
    assert len(symbols["layer_types"]) == 120 and symbols["layer_types"].endswith("…")
    assert "has()" not in symbols
