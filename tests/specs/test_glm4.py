"""GLM-4, in both of its codes: gate and up in one tensor; in the first also q, k and v."""

from __future__ import annotations

from tests.specs.support import kept


def test_a_rank_has_its_part_of_gate_and_of_up() -> None:
    """13696 features, 3424 a rank; the up rows begin at 13696."""
    rows = kept("glm4", "glm-4-9b-0414", tp=4, rank=1)
    assert rows["model.layers.9.mlp.gate_up_proj.weight"] == ([(3424, 6848), (17120, 20544)], [(0, 4096)])
    assert rows["model.layers.9.mlp.down_proj.weight"] == ([(0, 4096)], [(3424, 6848)])


def test_a_rank_has_its_part_of_q_of_k_and_of_v() -> None:
    """32 heads of 128, then 2 kv heads as k, then as v: rank 5 of 8 has heads 20 to 23, and shares kv head 1."""
    at = "transformer.encoder.layers.9."
    rows = kept("chatglm", "glm-4-9b-chatglm", tp=8, rank=5)
    q_k_v = [(2560, 3072), (4224, 4352), (4480, 4608)]
    assert rows[at + "self_attention.query_key_value.weight"] == (q_k_v, [(0, 4096)])
    assert rows[at + "self_attention.query_key_value.bias"] == (q_k_v,)
    assert rows[at + "mlp.dense_h_to_4h.weight"] == ([(8560, 10272), (22256, 23968)], [(0, 4096)])
