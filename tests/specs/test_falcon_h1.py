"""Falcon-H1: one Mamba-2 group, whose B and C every rank keeps beside its own heads."""

from __future__ import annotations

from shardc.cli.specs import DEFAULT_SPECS
from shardc.prove.small import read_small
from tests.specs.support import kept

MIXER = "model.layers.0.mamba."


def test_rank_7_of_8() -> None:
    """24 heads of 64: z and x have 1536 rows, B and C 128, dt 24; rank 7 has the last three heads."""
    rows = kept("falcon_h1", "falcon-h1-0.5b", tp=8, rank=7)
    layer = "model.layers.35."
    # z; the end of x with B and C, which follow it at once; dt.
    assert rows[layer + "mamba.in_proj.weight"] == ([(1344, 1536), (2880, 3328), (3349, 3352)], [(0, 1024)])
    assert rows[layer + "mamba.conv1d.weight"] == ([(1344, 1792)], [(0, 1)], [(0, 4)])
    assert rows[layer + "mamba.dt_bias"] == ([(21, 24)],)
    # Two kv heads, four ranks to each.
    assert rows[layer + "self_attn.k_proj.weight"] == ([(64, 128)], [(0, 1024)])
    assert layer + "mamba.norm.weight" not in rows


def test_the_mixers_projections_have_biases_apart() -> None:
    """mamba_proj_bias is in_proj's, projectors_bias out_proj's: so the model's class reads them."""
    config = read_small(DEFAULT_SPECS / "small" / "falcon_h1.json")
    biases = {
        key: {name.removeprefix(MIXER) for name in kept("falcon_h1", {**config, key: True}, tp=2, rank=1)}
        & {"in_proj.bias", "out_proj.bias"}
        for key in ("mamba_proj_bias", "projectors_bias")
    }
    assert biases == {"mamba_proj_bias": {"in_proj.bias"}, "projectors_bias": {"out_proj.bias"}}
