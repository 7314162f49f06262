"""gpt-oss: 2880 features are 90 MXFP4 blocks, which 4 ranks cannot share evenly; gate and up rows alternate."""

from __future__ import annotations

from shardc.plan.bound import bind
from shardc.plan.compile import compile_plan
from shardc.plan.evidence import Evidence
from tests.specs.support import bound_to, kept, spec_named
from tests.support import checkpoint, rows

TABLE = "gpt-oss-20b-mxfp4"
EXPERTS = "model.layers.0.mlp.experts."


def test_blocks_are_dealt_whole() -> None:
    """23 blocks a rank, 21 to the last: 736 features, then 672 and zeros."""
    last = kept("gpt_oss", TABLE, tp=4, rank=3)
    assert last[EXPERTS + "gate_up_proj_blocks"] == ([(0, 32)], [(4416, 5760)], [(0, 90)], [(0, 16)])
    assert last[EXPERTS + "down_proj_scales"] == ([(0, 32)], [(0, 2880)], [(69, 90)])
    plan = compile_plan(bound_to("gpt_oss", TABLE), {"tp": 4}).plan
    assert plan is not None
    assert rows(plan, {"tp": 3})[EXPERTS + "gate_up_proj_bias"][1] == (((0, 32, 0),), ((4416, 5760, 128),))


def test_bias_of_down_proj_is_on_rank_0() -> None:
    name = EXPERTS + "down_proj_bias"
    assert kept("gpt_oss", TABLE, tp=4, rank=0, ep=4, ep_rank=1)[name] == ([(8, 16)], [(0, 2880)])
    assert kept("gpt_oss", TABLE, tp=4, rank=1, ep=4, ep_rank=1)[name] == ([(8, 16)], [])


def test_sinks_are_one_value_a_head() -> None:
    """64 heads in 8 groups: rank 9 of 16 has the second half of kv head 4's."""
    found = kept("gpt_oss", TABLE, tp=16, rank=9)
    assert found["model.layers.0.self_attn.sinks"] == ([(36, 40)],)
    assert found["model.layers.0.self_attn.k_proj.bias"] == ([(256, 320)],)


def test_bf16_experts_are_stored_in_out() -> None:
    """Without blocks every feature is dealt by itself: 720 a rank."""
    one = checkpoint(TABLE)
    headers = {name: header for name, header in one.headers.items() if not name.endswith(("_blocks", "_scales"))}
    for layer in range(24):
        at = f"model.layers.{layer}.mlp.experts."
        headers[at + "gate_up_proj"] = ("BF16", (32, 2880, 5760))
        headers[at + "down_proj"] = ("BF16", (32, 2880, 2880))
    plan = compile_plan(bind(spec_named("gpt_oss"), Evidence("bf16", one.config.data, headers)), {"tp": 4}).plan
    assert plan is not None
    found = rows(plan, {"tp": 3})
    assert found[EXPERTS + "gate_up_proj"][1] == (((0, 32, 0),), ((0, 2880, 0),), ((4320, 5760, 0),))
    assert found[EXPERTS + "down_proj"][1] == (((0, 32, 0),), ((2160, 2880, 0),), ((0, 2880, 0),))
