"""OLMo 2: norms over the whole of q and of k, cut as their rows."""

from __future__ import annotations

from shardc.plan.collectives import Collective, collectives
from tests.specs.support import kept, spec_named

ATTENTION = "model.layers.{layer}.self_attn."


def test_norms_follow_their_heads() -> None:
    """32 heads of 128: rank 3 of 8 has heads 12 to 15."""
    rows = kept("olmo2", "olmo-2-7b", tp=8, rank=3)
    assert rows[ATTENTION.format(layer=0) + "q_norm.weight"] == ([(1536, 2048)],)
    assert rows[ATTENTION.format(layer=0) + "q_proj.weight"] == ([(1536, 2048)], [(0, 4096)])


def test_the_ranks_share_the_sum_of_squares() -> None:
    of_norms = [one for one in collectives(spec_named("olmo2")) if "norm" in one.pattern]
    assert of_norms == [Collective(f"{ATTENTION}{name}_norm.weight", "sum_of_squares", "tp") for name in "qk"]
