"""The class of a change: of the plans where some rank keeps something else, of the text where nobody does."""

from __future__ import annotations

import pytest

from shardc.review.compare.specs import spec_change
from tests.review.support import HEADERS, SPEC, change, edited, fields, item, outcomes, version

TP = [(), (("tp", 2),), (("tp", 4),), (("tp", 8),)]
Q_PROJ, O_PROJ = "layers.*.q_proj.weight", "layers.*.o_proj.weight"


def test_comments_spacing_and_order_are_cosmetic() -> None:
    text = edited(("axes: {heads: {size: n_heads}}", "axes:  # dealt once\n  heads: {size: n_heads}"))
    assert change(SPEC, text).classes == ("cosmetic",)


def test_words_for_readers_are_cosmetic() -> None:
    ignore = "\nignore: [{name: 'x.*', because: no rank wants it, optional: true}]\ntargets:"
    before = edited(("\ntargets:", ignore))
    after = before.replace("no rank wants it", "the tower is elsewhere").replace("dtype:", "about: A model.\ndtype:")
    assert change(before, after).classes == ("cosmetic",)


def test_a_symbol_with_another_name_is_equal() -> None:
    after = SPEC.replace("n_heads", "num_query_heads")
    found = change(SPEC, after)
    assert found.classes == ("equal",)
    assert [(one.name, one.before, one.after, one.note) for one in found.fields] == [
        ("config.name", "n_heads", "num_query_heads", "renamed")
    ]
    assert fields(item(found, "heads")) == [("size", "n_heads", "num_query_heads", "equal formula")]
    assert outcomes(found) == dict.fromkeys(TP, ())


def test_an_axis_with_another_name_is_equal() -> None:
    found = change(
        SPEC,
        SPEC.replace("heads: {size", "q_heads: {size")
        .replace("[heads * 4", "[q_heads * 4")
        .replace("hidden, heads", "hidden, q_heads"),
    )
    assert found.classes == ("equal",)
    assert [one.name for one in found.axes] == ["heads -> q_heads"]
    assert fields(item(found, Q_PROJ)) == [("shape", "[heads * 4, hidden]", "[q_heads * 4, hidden]", "equal formula")]


def test_a_formula_that_is_the_same_layout_is_equal_on_every_mesh() -> None:
    found = change(
        SPEC, edited(("[heads * 4, hidden], shard: channel_rows", "[heads * 2 * 2, hidden], shard: channel_rows"))
    )
    assert found.classes == ("equal",)
    assert fields(item(found, Q_PROJ)) == [
        ("shape", "[heads * 4, hidden]", "[heads * 2 * 2, hidden]", "same layout on every mesh")
    ]


def test_swapped_factors_are_another_layout() -> None:
    after = edited(("[heads * 4, hidden], shard: channel_rows", "[4 * heads, hidden], shard: column_parallel"))
    found = change(SPEC, after)
    assert found.classes == ("layout",)
    assert item(found, Q_PROJ).classes == ("layout",)
    assert fields(item(found, Q_PROJ)) == [
        (
            "shape",
            "[heads * 4, hidden]",
            "[4 * heads, hidden]",
            "same size, other storage order: each rank gets other rows",
        ),
        ("shard", "channel_rows", "column_parallel", ""),
    ]
    assert outcomes(found) == {(): (), **dict.fromkeys(TP[1:], ("layout",))}
    (cut,) = found.meshes[1].cuts
    assert (cut.pattern, cut.count) == (Q_PROJ, 2)
    assert cut.before == "tp rank 0: 16 x 16, rows 0..16"
    assert cut.after == "tp rank 0: 16 x 16, rows 4 ranges of 4, every 8, from 0"


def test_swapped_factors_of_a_spec_that_claims_one_rank_only() -> None:
    one = edited(("tp: [1, 2, 4, 8]", "tp: [1]"))
    found = change(
        one, one.replace("[heads * 4, hidden], shard: channel_rows", "[4 * heads, hidden], shard: column_parallel")
    )
    assert found.classes == ("layout",), "powers of two are tried whether they are claimed or not"


def test_a_size_that_loads_anew_widens() -> None:
    before = edited(
        ("heads: {size: n_heads}", "heads: {size: n_heads, granule: 2}"), ("tp: [1, 2, 4, 8]", "tp: [1, 2, 4]")
    )
    found = change(before, before.replace(", granule: 2", ", granule: 1"))
    assert found.classes == ("widens",)
    assert outcomes(found)[("tp", 8),] == ("widens",)
    assert fields(item(found, "heads")) == [("granule", "2", "1", "")]
    assert fields(item(found, Q_PROJ)) == [("heads.granule", "2", "1", "")]
    assert item(found, Q_PROJ).classes == ("widens",)


def test_a_size_that_loads_no_more_narrows_and_says_why() -> None:
    found = change(SPEC, edited(("{size: n_heads}", "{size: n_heads, granule: 2}")))
    assert found.classes == ("narrows",)
    (failing,) = [mesh for mesh in found.meshes if mesh.classes]
    assert failing.mesh == {"tp": 8}
    assert failing.after.reasons == (
        "SHD201 8 heads cannot be dealt to 8 tp ranks: 4 granules of 2, 0.5 (1 element) each",
    )


@pytest.mark.parametrize(("sizes", "classes"), [("[1, 2, 4]", ("narrows",)), ("[1, 2, 4, 8, 16]", ())])
def test_a_claim(sizes: str, classes: tuple[str, ...]) -> None:
    """A claim is a promise: to take one back narrows, though the plan is there. One that does not compile widens not."""
    found = change(SPEC, edited(("[1, 2, 4, 8]", sizes)))
    assert found.classes == (classes or ("equal",))


def test_a_new_claim_of_what_loaded_before_widens() -> None:
    found = change(edited(("[1, 2, 4, 8]", "[1, 2, 4]")), SPEC)
    assert found.classes == ("widens",)
    (mesh,) = [mesh for mesh in found.meshes if mesh.classes]
    assert (mesh.mesh, mesh.before.bytes, mesh.after.bytes) == ({"tp": 8}, 512, 512)


def test_a_tensor_that_is_gone_is_coverage_and_narrows_where_the_file_has_it() -> None:
    line = "      o_proj.weight: {shape: [hidden, heads * 4], shard: channel_cols}\n"
    found = change(SPEC, edited((line, "")), headers=HEADERS)
    assert found.classes == ("narrows", "coverage")
    assert [(one.name, one.status, one.count) for one in found.tensors] == [(O_PROJ, "removed", 2)]
    assert found.meshes[0].after.reasons[0].startswith("SHD402 layers.0.o_proj.weight BF16 [16, 32] is in the file")
    ignored = edited((line, ""), ("\ntargets:", "\nignore: [{name: '*.o_proj.weight', because: not wanted}]\ntargets:"))
    assert change(SPEC, ignored, headers=HEADERS).classes == ("coverage",)


def test_a_tensor_that_is_new_is_coverage() -> None:
    added = "\n      norm.weight: {shape: [hidden], shard: replicated, optional: true}\ntargets:"
    found = change(SPEC, edited(("\ntargets:", added)), headers=HEADERS)
    assert found.classes == ("coverage",)
    assert [(one.name, one.status, one.count) for one in found.tensors] == [("layers.*.norm.weight", "added", 0)]


def test_other_work_between_the_ranks_on_the_same_bytes() -> None:
    norm = "\n      q_norm.weight: {shape: [heads * 4], shard: channel_rows%s}\ntargets:"
    before = edited(("\ntargets:", norm % ""))
    found = change(before, edited(("\ntargets:", norm % ", collective: sum_of_squares")))
    assert found.classes == ("collectives",)
    assert outcomes(found) == {(): (), **dict.fromkeys(TP[1:], ("collectives",))}


@pytest.mark.parametrize(
    ("before", "after", "classes"),
    [
        ("dtype: BF16", "dtype: [BF16, F16]", ("widens",)),
        ("dtype: [BF16, F16]", "dtype: BF16", ("narrows",)),
        ("dtype: [BF16, F32]", "dtype: [BF16, F16]", ("narrows", "widens")),
        ("architectures: [TinyForCausalLM]", "architectures: [TinyForCausalLM, SmallForCausalLM]", ("widens",)),
        ("config: {hidden: hidden_size,", "config: {hidden: [hidden_size, n_embd],", ("widens",)),
        ("config: {hidden: hidden_size,", "config: {hidden: {key: hidden_size, else: 16},", ("widens",)),
    ],
)
def test_longer_lists_load_more(before: str, after: str, classes: tuple[str, ...]) -> None:
    start = next(line for line in SPEC.split("\n") if line.startswith(before.split(":")[0] + ":"))
    line = start if before in start else before
    old = SPEC.replace(start, line)
    assert change(old, old.replace(before, after)).classes == classes


def test_a_dtype_that_is_cast_is_other_bytes() -> None:
    old = "o_proj.weight: {shape: [hidden, heads * 4], shard: channel_cols"
    found = change(SPEC, edited((old, old + ", dtype: {file: BF16, load: F32}")))
    assert found.classes == ("layout",)
    assert found.meshes[0].cuts[0].before == "loads as BF16"
    assert found.meshes[0].cuts[0].after == "loads as F32"
    assert (found.meshes[0].before.bytes, found.meshes[0].after.bytes) == (4096, 6144)


def test_an_output_is_another_local_tensor() -> None:
    gate = "\n      g_proj.weight: {shape: [heads * 4, hidden], shard: channel_rows}\ntargets:"
    before = edited(("\ntargets:", gate))
    fused = "\n    outputs:\n      qg_proj.weight: {concat: [q_proj.weight, g_proj.weight]}\ntargets:"
    after = before.replace("\ntargets:", fused)
    found = change(before, after)
    assert found.classes == ("layout",)
    assert [(one.name, one.status) for one in found.tensors] == [("layers.*.qg_proj.weight", "added")]
    (cut,) = found.meshes[0].cuts
    assert (cut.pattern, cut.count) == ("layers.*.qg_proj.weight", 2)
    assert (cut.before, cut.after) == (
        "not built: the rank has the file's tensors", "64 x 16 of q_proj, g_proj, in 2 pieces",
    )  # fmt: skip
    turned = after.replace("[q_proj.weight, g_proj.weight]", "[g_proj.weight, q_proj.weight]")
    assert change(after, turned).classes == ("layout",)
    assert change(after, after + "# no change\n").classes == ("cosmetic",)


def test_a_contract() -> None:
    asked = "\ncontracts: [{use: causal_conv1d_l2norm, with: {channels: local(heads * 64)}}]\ntargets:"
    found = change(SPEC, edited(("\ntargets:", asked)))
    assert found.classes == ("narrows",), "on 8 ranks each has 64 channels"
    assert [(one.name, one.status) for one in found.contracts] == [("causal_conv1d_l2norm", "added")]
    assert outcomes(found)[("tp", 8),] == ("narrows",)


def test_without_a_target_another_formula_may_be_another_layout() -> None:
    bare = edited(("targets:\n  - {checkpoint: tiny, tp: [1, 2, 4, 8]}\n", ""))
    found = change(
        bare, bare.replace("[heads * 4, hidden], shard: channel_rows", "[heads * 2 * 2, hidden], shard: channel_rows")
    )
    assert found.classes == ("layout",)
    assert fields(item(found, Q_PROJ))[0][3] == "no recorded checkpoint to try it on"


def test_a_spec_that_has_errors_loads_nothing() -> None:
    broken = edited(("[heads * 4, hidden], shard: channel_rows", "[heds * 4, hidden], shard: channel_rows"))
    found = change(SPEC, broken)
    assert found.classes == ("narrows",)
    assert found.meshes[0].after.reasons == ("SHD103 unknown name `heds`",)
    assert change(broken, SPEC).classes == ("widens",)


def test_a_spec_that_is_new_and_one_that_is_gone() -> None:
    assert spec_change("tiny", None, version(SPEC)).classes == ("widens",)
    assert spec_change("tiny", version(SPEC), None).classes == ("narrows",)
