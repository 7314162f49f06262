"""What a tensor's change is called: by the names that its spec has, whatever the file calls its parts."""

from __future__ import annotations

from shardc.plan.evidence import Header
from tests.review.support import CONFIG, HEADERS, SPEC, change, edited, fields, item, outcomes

Q_PROJ, O_PROJ = "layers.*.q_proj.weight", "layers.*.o_proj.weight"
#: q_proj and o_proj as GPTQ stores them: the file has names that the spec does not have.
_GPTQ: dict[str, Header] = {
    f"layers.{layer}.{stem}.{part}": header
    for layer in range(2)
    for stem, out, in_ in (("q_proj", 32, 16), ("o_proj", 16, 32))
    for part, header in (
        ("qweight", ("I32", (in_ // 8, out))),
        ("qzeros", ("I32", (in_ // 8, out // 8))),
        ("scales", ("F16", (in_ // 8, out))),
    )
}


def test_a_tensor_whose_parts_have_other_names_in_the_file() -> None:
    before = SPEC.replace("shard: channel_", "formats: gptq, shard: channel_")
    config = {**CONFIG, "quantization_config": {"bits": 4, "group_size": 8}}
    dealt = "heads: {size: n_heads, placement: round_robin}"
    found = change(before, before.replace("heads: {size: n_heads}", dealt), config, _GPTQ)
    assert found.classes == ("layout",)
    assert {one.pattern for mesh in found.meshes for one in mesh.cuts} == {
        f"layers.*.{stem}.{part}" for stem in ("q_proj", "o_proj") for part in ("qweight", "qzeros", "scales")
    }
    assert item(found, Q_PROJ).classes == item(found, O_PROJ).classes == ("layout",)


def test_other_work_after_a_tensor_whose_parts_have_other_names_in_the_file() -> None:
    before = SPEC.replace("shard: channel_", "formats: gptq, shard: channel_")
    config = {**CONFIG, "quantization_config": {"bits": 4, "group_size": 8}}
    asked = before.replace("channel_rows}", "channel_rows, collective: sum_of_squares}")
    assert outcomes(change(before, asked, config, _GPTQ))[("tp", 2),] == ("collectives",)


def test_a_tensor_that_no_recorded_checkpoint_has_may_be_another_layout() -> None:
    """Nothing was tried: neither equal rows nor an equal layout would be true."""
    gate = "\n      gate.weight: {shape: [heads * 4 * 2, hidden], shard: channel_rows, optional: true}\ntargets:"
    before = edited(("\ntargets:", gate))
    after = before.replace("[heads * 4 * 2, hidden]", "[heads * 4 | heads * 4, hidden]")
    after = after.replace("shard: channel_rows, optional", "shard: segmented_rows, optional")
    found = change(before, after, headers=HEADERS)
    assert found.classes == ("layout",)
    assert {one[3] for one in fields(item(found, "layers.*.gate.weight"))} == {"no recorded checkpoint to try it on"}
    renamed = before.replace("heads: {size: n_heads}", "q_heads: {size: n_heads}")
    renamed = renamed.replace("heads * 4", "q_heads * 4")
    assert change(before, renamed, headers=HEADERS).classes == ("equal",)


def test_a_let_that_says_something_else_shows_in_the_shapes_that_name_it() -> None:
    before = edited(("\naxes:", "\nlet: {q: heads * 4}\naxes:"))
    before = before.replace("[heads * 4, hidden]", "[q, hidden]")
    found = change(before, before.replace("q: heads * 4", "q: 4 * heads").replace("channel_rows", "column_parallel"))
    assert fields(item(found, Q_PROJ))[0] == (
        "shape",
        "[heads * 4, hidden]",
        "[4 * heads, hidden]",
        "same size, other storage order: each rank gets other rows",
    )
