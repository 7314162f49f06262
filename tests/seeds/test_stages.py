"""A pipeline: stages of layers, tensors at its ends, and tp, ep and a mesh dim of attention beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product
from pathlib import Path

import pytest
import torch

from tests.seeds.model import Kept, Model, numbered, write_checkpoint
from tests.support import generated_rows, plan, rows

CONFIG = {
    "hidden_size": 2,
    "num_hidden_layers": 5,
    "first_k_dense_replace": 1,
    "num_attention_heads": 4,
    "n_routed_experts": 5,
    "moe_intermediate_size": 4,
    "intermediate_size": 6,
    "vocab_size": 10,
}
TIED = {**CONFIG, "tie_word_embeddings": True}
Rank = Mapping[str, tuple[int, int]]


@pytest.fixture
def stages(model: Callable[..., Model]) -> Model:
    return model("stages")


def kept(model: Model, rank: Rank, config: Mapping[str, object] = CONFIG) -> dict[str, Kept]:
    """What the rank `(rank, size)` keeps, as both programs say it."""
    full = {dim: rank.get(dim, (0, 1)) for dim in model.spec.mesh_dims}
    one = plan(model.text, config, {dim: size for dim, (_, size) in full.items()})
    interpreted = rows(one, {dim: at for dim, (at, _) in full.items()})
    assert interpreted == generated_rows(model.module, config, full)
    return {name: Kept(*row) for name, row in interpreted.items()}


def write(model: Model, folder: Path, config: Mapping[str, object] = CONFIG) -> tuple[Path, dict[str, torch.Tensor]]:
    """A checkpoint of small numbers, exact in BF16."""
    full = {name: numbered(one.shape, torch.bfloat16) for name, one in kept(model, {}, config).items()}
    return write_checkpoint(folder / "checkpoint", config, full), full


def test_the_mesh(stages: Model) -> None:
    assert stages.module.MESH == ("tp", "attn_tp", "ep", "pp")


def test_one_rank_alone_has_the_file(stages: Model, tmp_path: Path) -> None:
    directory, full = write(stages, tmp_path)
    loaded = stages.module.load(directory)
    assert loaded.keys() == full.keys()
    assert all(torch.equal(loaded[name], full[name]) for name in full)


def test_a_middle_stage(stages: Model, tmp_path: Path) -> None:
    """5 layers on 3 stages are 2, 2, 1: the middle one has layers 2 and 3, and nothing of the ends."""
    directory, _ = write(stages, tmp_path)
    rank = {"tp": (1, 2), "attn_tp": (3, 4), "ep": (1, 2), "pp": (1, 3)}
    loaded = stages.module.load(directory, mesh=rank)
    assert loaded.keys() == kept(stages, rank).keys()
    assert list(loaded) == [
        "layers.2.self_attn.q_proj.weight",
        "layers.2.self_attn.o_proj.weight",
        "layers.3.self_attn.q_proj.weight",
        "layers.3.self_attn.o_proj.weight",
        "layers.2.mlp.experts.1.down_proj.weight",
        "layers.2.mlp.experts.3.down_proj.weight",
        "layers.3.mlp.experts.1.down_proj.weight",
        "layers.3.mlp.experts.3.down_proj.weight",
        "layers.2.mlp.experts.up_proj",
        "layers.3.mlp.experts.up_proj",
    ]
    # The last of four heads: rows 6 and 7 of 8.
    assert loaded["layers.2.self_attn.q_proj.weight"].tolist() == [[12, 13], [14, 15]]
    assert loaded["layers.3.self_attn.o_proj.weight"].tolist() == [[6, 7], [14, 15]]
    # Experts 1 and 3 of 5, and of each the second half of its 4 features.
    assert loaded["layers.3.mlp.experts.3.down_proj.weight"].tolist() == [[2, 3], [6, 7]]
    assert loaded["layers.2.mlp.experts.up_proj"].tolist() == [[[12, 13], [14, 15]], [[28, 29], [30, 31]]]


def test_the_ends(stages: Model, tmp_path: Path) -> None:
    directory, _ = write(stages, tmp_path)
    ends = [stages.module.load(directory, tp_rank=1, tp_size=2, mesh={"pp": (rank, 3)}) for rank in (0, 2)]
    outside = [[name for name in end if ".self_attn." not in name and ".experts." not in name] for end in ends]
    assert outside == [
        ["embed_tokens.weight", "layers.0.mlp.up_proj.weight"],
        ["embed_tokens.weight", "norm.weight", "lm_head.weight", "layers.5.mtp.norm.weight"],
    ]
    # Rows 8 and 9 of the vocabulary, and 6 of zero; features 3, 4 and 5.
    for end in ends:
        assert end["embed_tokens.weight"].tolist() == [[16, 17], [18, 19], *[[0, 0]] * 6]
    assert ends[0]["layers.0.mlp.up_proj.weight"].tolist() == [[6, 7], [8, 9], [10, 11]]
    assert sorted({name.split(".")[1] for name in ends[1] if ".self_attn." in name}) == ["4"]


def test_a_tied_head_is_the_embedding_of_the_last_stage(stages: Model, tmp_path: Path) -> None:
    directory, full = write(stages, tmp_path, TIED)
    assert "lm_head.weight" not in full
    last = stages.module.load(directory, mesh={"pp": (1, 2)})
    assert last["lm_head.weight"] is last["embed_tokens.weight"]
    assert "lm_head.weight" not in stages.module.load(directory, mesh={"pp": (0, 2)})


def test_a_tied_head_without_the_embedding(model: Callable[..., Model], tmp_path: Path) -> None:
    apart = model("stages", ("only: {pp: [first, last]}", "only: {pp: first}"))
    directory, _ = write(apart, tmp_path, TIED)
    with pytest.raises(apart.module.rt.ShardError) as caught:
        apart.module.load(directory, mesh={"pp": (1, 2)})
    said = "lm_head.weight is tied to embed_tokens.weight, which this rank does not have"
    assert caught.value.findings == (("SHD401", said),)
    assert "lm_head.weight" not in apart.module.load(directory, mesh={"pp": (0, 2)})


def test_every_element_is_on_a_rank(stages: Model, tmp_path: Path) -> None:
    """All ranks of an uneven mesh together give the file back, and no name is on a rank that does not list it."""
    directory, full = write(stages, tmp_path)
    sizes = {"tp": 2, "attn_tp": 2, "ep": 3, "pp": 4}
    found = {name: torch.zeros_like(tensor) for name, tensor in full.items()}
    on: dict[str, set[int]] = {name: set() for name in full}
    for ranks in product(*map(range, sizes.values())):
        rank = dict(zip(sizes, zip(ranks, sizes.values(), strict=True), strict=True))
        mine = kept(stages, rank)
        loaded = stages.module.load(directory, mesh=rank)
        assert loaded.keys() == mine.keys()
        for name, one in mine.items():
            on[name].add(ranks[-1])
            places = [[row for a, b, pad in dim for row in [*range(a, b), *[-1] * pad]] for dim in one.at]
            here = torch.meshgrid(
                *(torch.tensor([i for i, r in enumerate(p) if r >= 0]) for p in places), indexing="ij"
            )
            there = torch.meshgrid(*(torch.tensor([r for r in p if r >= 0]) for p in places), indexing="ij")
            found[name][there] = loaded[name][here]
    assert all(torch.equal(found[name], full[name]) for name in full)
    assert {name: stage for name, stage in on.items() if "layers" not in name} == {
        "embed_tokens.weight": {0, 3},
        "norm.weight": {3},
        "lm_head.weight": {3},
    }
    # 5 layers on 4 stages are 2, 1, 1, 1.
    assert [on[f"layers.{layer}.self_attn.q_proj.weight"] for layer in range(5)] == [{0}, {0}, {1}, {2}, {3}]
