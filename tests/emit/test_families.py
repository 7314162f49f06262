import pytest

from shardc.emit.families import loops_around
from tests.emit.test_module import function

SPEC = """\
spec: 1
name: tiny
architectures: [TinyForCausalLM]
dtype: BF16
config: {hidden: hidden_size, layers: num_layers, n_experts: num_experts, sizes: sizes}
axes: {experts: {size: n_experts, over: ep}}
groups:
  mlp:
    at: layers.{layer}
    for: {layer: layers, expert: experts}
    tensors:
      TENSORS
"""


def mlp(*tensors: str) -> list[str]:
    """The lines of the group."""
    lines = function(SPEC.replace("TENSORS", "\n      ".join(tensors))).splitlines()
    return lines[next(i for i, line in enumerate(lines) if line.startswith("experts = ")) + 1 :]


def test_a_family_is_said_before_the_loops_that_it_does_not_depend_on() -> None:
    assert mlp(
        "a.{expert}.weight: {shape: [hidden], shard: expert_slices}",
        "b.{expert}.weight: {shape: ['sizes[layer]'], shard: expert_slices}",
        "c.{expert}.weight: {shape: [hidden / 2], shard: expert_slices}",
    ) == [
        "tensor = rt.Family((hidden,), 'expert_slices', DTYPE)",
        "for layer in range(layers):",
        "    for expert in range(experts.start, experts.stop):",
        "        at = f'layers.{layer}.'",
        "        yield rt.Tensor(at + f'a.{expert}.weight', tensor)",
        "        yield rt.Tensor(at + f'b.{expert}.weight', rt.Family((sizes[layer],), 'expert_slices', DTYPE))",
        "        yield rt.Tensor(at + f'c.{expert}.weight', rt.Family((rt.exact(hidden, 2),), 'expert_slices', DTYPE))",
    ]


@pytest.mark.parametrize(
    ("family", "loops"),
    [
        ("rt.Family((hidden, heads.size * 64), 'channel_cols', DTYPE, at={1: heads_at})", 0),
        ("rt.Family((hidden * layer,), 'replicated', DTYPE)", 1),
        ("rt.Family((hidden,), 'replicated', DTYPE, at={0: ((expert, expert + 1),)})", 2),
        ("rt.Family((hidden // 2, hidden // max(heads.size, 1)), 'replicated', DTYPE)", 0),
        ("rt.Family((hidden,), 'rank0', DTYPE, at={0: rt.rank0(mesh['tp'], hidden)})", 0),
    ],
)
def test_how_many_loops_a_family_stands_in(family: str, loops: int) -> None:
    assert loops_around(family, [{"layer"}, {"expert"}]) == loops


@pytest.mark.parametrize(
    "size", ["hidden // groups", "hidden % groups", "rt.exact(hidden, 2)", "rt.ceil_div(hidden, groups)", "sizes[0]"]
)
def test_one_that_may_fail_stands_in_all_loops(size: str) -> None:
    assert loops_around(f"rt.Family(({size},), 'replicated', DTYPE)", [{"layer"}, {"expert"}]) == 2
