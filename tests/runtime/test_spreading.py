import pytest
from torch.distributed.tensor import Replicate, Shard

import shardc.runtime as rt
from shardc.runtime.spreading import spread

from . import test_placing
from .tiny_model import CONFIG, SPEC, full_tensors, headers_of, mesh

HEADERS = headers_of(full_tensors())


def test_shapes_are_those_of_the_full_tensors() -> None:
    found = spread(SPEC, CONFIG, mesh(tp=(1, 2), ep=(0, 2)), ["ep", "tp"], HEADERS)
    assert {name: one.shape for name, one in found.items()} == {
        "embed.weight": (10, 8),
        "lm_head.weight": (10, 8),
        "qkv.weight": (36, 8),
        "o_proj.weight": (8, 24),
        "o_proj.bias": (8,),
        "A_log": (8,),
        "norm.weight": (8,),
        "experts.0.up.weight": (16, 8),
        "experts.0.down.weight": (8, 16),
        "experts.1.up.weight": (16, 8),
        "experts.1.down.weight": (8, 16),
    }


def test_a_tied_tensor_is_spread_as_its_twin() -> None:
    found = spread(SPEC, CONFIG, mesh(tp=(1, 2)), ["tp"], HEADERS)
    assert found["lm_head.weight"] is found["embed.weight"]


def test_a_stack_is_cut_over_the_mesh_dim_of_its_elements() -> None:
    headers = headers_of(test_placing.FULL)
    rank = rt.mesh(("tp", "ep"), extra={"tp": (0, 2), "ep": (1, 2)})
    found = spread(test_placing.spec("interleave"), {}, rank, ["ep", "tp"], headers)["e"]
    assert found == ((2, 2), {"ep": Shard(0), "tp": Replicate()})


def test_what_the_file_lacks_is_refused() -> None:
    headers = {name: header for name, header in HEADERS.items() if name != "A_log"}
    with pytest.raises(rt.ShardError, match=r"^SHD401: A_log is missing$"):
        spread(SPEC, CONFIG, mesh(), ["tp"], headers)


def test_placements_without_processes() -> None:
    found = rt.placements(SPEC, CONFIG, {"ep": (1, 2), "tp": (0, 4)}, HEADERS)
    assert found["o_proj.weight"] == {"ep": Replicate(), "tp": Shard(1)}
    assert found["experts.2.up.weight"] == {"tp": Shard(0)}
    assert found["qkv.weight"] == (
        "in pieces: tp rank 0 has 0..6 and 24..27 and 30..33 of dim 0, where Shard(0) would give it 0..9"
    )
    assert "experts.0.up.weight" not in found


def test_placements_are_the_callers_own() -> None:
    found = rt.placements(SPEC, CONFIG, {"tp": (0, 2)}, HEADERS)
    placements = found["experts.0.up.weight"]
    assert isinstance(placements, dict)
    placements.clear()
    assert found["experts.1.up.weight"] == {"tp": Shard(0)}
