"""What the recorded checkpoints do not show: a class then comes of the text, and is never `equal` on trust."""

from __future__ import annotations

import pytest

from shardc.review.effects import effect
from tests.cli.support import CONFIG
from tests.review.support import BARE, HEADERS, SPEC, change, edited, fields, item, swapped, with_

Q_PROJ, O_PROJ = "layers.*.q_proj.weight", "layers.*.o_proj.weight"
UNTRIED = "no recorded checkpoint to try it on"


@pytest.mark.parametrize("before", [BARE, SPEC])
@pytest.mark.parametrize(
    ("old", "new", "classes"),
    [
        ("", "if_uneven: spread", ("widens",)),
        ("if_uneven: spread", "if_uneven: error", ("narrows",)),
        ("if_uneven: spread", "if_uneven: ceil", ("layout",)),
        ("if_uneven: ceil", "if_uneven: whole", ("layout",)),
        ("if_uneven: spread", "if_uneven: spread, placement: round_robin", ("layout",)),
        ("", "pad_to: 8", ("layout",)),
        ("granule: 2", "granule: 4", ("narrows",)),
        ("granule: 2", "granule: 3", ("narrows", "widens")),
        ("if_fewer: replicate", "if_fewer: replicate, replicas: cyclic", ("layout",)),
    ],
)
def test_an_axis_is_dealt_otherwise(before: str, old: str, new: str, classes: tuple[str, ...]) -> None:
    """8 heads to powers of two: many a dealing does the same there, and something else with 3 ranks."""
    was, is_ = (before.replace("{size: n_heads}", f"{{size: n_heads{', ' if how else ''}{how}}}") for how in (old, new))
    found = change(was, is_)
    if before == BARE:
        assert found.classes == classes
    else:
        assert set(classes) <= set(found.classes)
        assert not {"equal", "cosmetic"} & set(found.classes)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("{concat: [q_proj.weight, g_proj.weight]}", "{concat: [g_proj.weight, q_proj.weight]}"),
        ("{concat: [q_proj.weight, g_proj.weight]}", "{interleave: [q_proj.weight, g_proj.weight], by: heads}"),
        ("{permute: q_proj.weight, from: heads * 2 * 3, to: heads * 3 * 2}",
         "{permute: q_proj.weight, from: heads * (2 | 4), to: heads * (4 | 2)}"),
    ],
)  # fmt: skip
def test_an_output_that_nobody_builds(before: str, after: str) -> None:
    gate = "      g_proj.weight: {shape: [heads * 6, hidden], shard: channel_rows}\n    outputs: {x.weight: OUTPUT}\n"
    text = BARE.replace("[heads * 4", "[heads * 6") + gate
    found = change(text.replace("OUTPUT", before), text.replace("OUTPUT", after))
    assert found.classes == ("layout",)
    assert item(found, "layers.*.x.weight").classes == ("layout",)


def test_where_the_rows_of_an_output_go() -> None:
    """Only `to` differs: it has to be seen, and shown."""
    text = BARE.replace("[heads * 4", "[heads * 12") + "    outputs: {x.weight: {permute: q_proj.weight, FROM}}\n"
    three = text.replace("FROM", "from: heads * (2 | 3 | 7), to: heads * (7 | 2 | 3)")
    found = change(three, three.replace("to: heads * (7 | 2 | 3)", "to: heads * (3 | 7 | 2)"))
    assert found.classes == ("layout",)
    assert fields(item(found, "layers.*.x.weight")) == [
        (
            "built of",
            "q_proj.weight from heads * (2 | 3 | 7) to heads * (7 | 2 | 3)",
            "q_proj.weight from heads * (2 | 3 | 7) to heads * (3 | 7 | 2)",
            "",
        )
    ]


def test_a_tensor_that_no_checkpoint_has() -> None:
    norm = "      n.weight: {shape: [heads * 4], shard: channel_rows, optional: true}\n"
    found = swapped(
        with_(norm),
        "n.weight: {shape: [heads * 4], shard: channel_rows",
        "n.weight: {shape: [4 * heads], shard: column_parallel",
    )
    assert found.classes == ("layout",)
    assert [note for _, _, _, note in fields(item(found, "layers.*.n.weight"))] == [UNTRIED, UNTRIED]
    assert effect(found) == "all 4 meshes byte-identical; beyond what was tried: layout"


def test_a_let_that_a_shape_names() -> None:
    text = BARE.replace("groups:", "let: {rows: heads * 4}\ngroups:").replace("[heads * 4, hidden]", "[rows, hidden]")
    found = swapped(text.replace("channel_rows", "column_parallel"), "rows: heads * 4", "rows: 4 * heads")
    assert found.classes == ("layout",)
    assert fields(item(found, Q_PROJ)) == [("shape", "[heads * 4, hidden]", "[4 * heads, hidden]", UNTRIED)]


def test_a_tensor_is_cut_though_only_its_companions_are_named() -> None:
    """GPTQ has no tensor of the entry's own name: what is said of the entry comes of those that it has."""
    text = edited(
        ("[heads * 4, hidden], shard: channel_rows", "[heads * 64, hidden * 8], shard: channel_rows, formats: [gptq]"),
        ("      o_proj.weight: {shape: [hidden, heads * 4], shard: channel_cols}\n", ""),
    )
    found = change(
        text,
        text.replace(
            "[heads * 64, hidden * 8], shard: channel_rows", "[2 * heads * 32, hidden * 8], shard: column_parallel"
        ),
    )
    assert found.classes[0] == "layout"
    assert item(found, Q_PROJ).classes[0] == "layout"
    assert [note for _, _, _, note in fields(item(found, Q_PROJ))] == ["same size, other rows", ""]


def test_ranks_that_nobody_claims() -> None:
    """Two stages are tried though the targets speak of tp alone."""
    stages = SPEC.replace("{size: n_heads}", "{size: n_heads}, stages: {size: layers, over: pp, role: layers}")
    stages = stages.replace("{layer: layers}", "{layer: stages}")
    first = with_(
        "  ends:\n    only: {pp: first}\n    tensors: {x.weight: {shape: [hidden], shard: replicated}}\n", stages
    )
    found = change(first, first.replace("{pp: first}", "{pp: last}"))
    assert found.classes == ("layout",)
    assert effect(found) == "pp=2 lays bytes out differently; tp=1, 2, 4, 8 byte-identical"
    assert fields(item(found, "x.weight")) == [("only", "pp: first", "pp: last", "")]
    turned = stages.replace("role: layers", "role: layers, placement: round_robin")
    assert change(stages, turned).classes == ("layout",)


def test_a_mesh_dim_that_is_new_moves_nothing() -> None:
    """Where both versions load it has one rank."""
    after = SPEC.replace("{size: n_heads}", "{size: n_heads}, stages: {size: layers, over: pp, role: layers}")
    found = change(SPEC, after.replace("{layer: layers}", "{layer: stages}"), headers=HEADERS)
    assert found.classes == ("widens",)
    assert effect(found) == "pp=2 now loads; tp=1, 2, 4, 8 byte-identical"
    assert fields(item(found, Q_PROJ)) == [("for", "layer: 0 .. layers", "layer of stages", "same tensors")]


@pytest.mark.parametrize(
    ("files", "loads", "classes"),
    [("[BF16, F32]", "BF16", ("layout",)), ("[F32]", "F32", ("equal",)), ("[BF16, F32]", "F32", ("layout",))],
)
def test_a_cast_of_files_that_are_not_recorded(files: str, loads: str, classes: tuple[str, ...]) -> None:
    before = BARE.replace("dtype: BF16", f"dtype: {files}")
    assert change(before, BARE.replace("dtype: BF16", f"dtype: {{file: {files}, load: {loads}}}")).classes == classes


@pytest.mark.parametrize(
    ("old", "new", "classes"),
    [
        ("config:", "root: text_config\nconfig:", ("narrows", "widens")),
        ("num_heads}", "{key: num_heads, else: 8}}", ("widens",)),
        ("num_heads}", "{tensor: '*.q_proj.weight', dim: 0}}", ("narrows", "widens")),
        ("num_heads}", "num_heads, more: other_size}", ("narrows",)),
        ("num_heads}", "num_heads, again: num_heads}", ("equal",)),
        ("num_heads}", "num_heads, more: {key: other_size, else: 1}}", ("equal",)),
    ],
)
def test_where_sizes_are_read(old: str, new: str, classes: tuple[str, ...]) -> None:
    used = "  more:\n    at: more\n    tensors: {x.weight: {shape: [SIZE], shard: replicated}}\n"
    name = "more" if "more:" in new else "again" if "again:" in new else "n_heads"
    before = with_(used.replace("SIZE", "n_heads"), BARE)
    after = with_(used.replace("SIZE", name), BARE).replace(old, new, 1)
    found = change(before, after)
    if name == "more":
        assert found.classes == ("layout", *[one for one in classes if one != "equal"])
    else:
        assert found.classes == classes


def test_entries_that_share_out_the_tensors_otherwise() -> None:
    """One that is split in two, and one that is written out, know the tensors that they knew."""
    half = SPEC.replace("{layer: layers}", "{layer: [0, 1]}")
    split = with_("  rest: {at: 'layers.{layer}', for: {layer: [1, layers]}, like: attention}\n", half)
    found = change(SPEC, split, headers=HEADERS)
    assert found.classes == ("equal",)
    assert [(one.name, one.status, one.classes) for one in found.tensors][:2] == [
        (Q_PROJ, "changed", ("equal",)),
        (Q_PROJ, "added", ("equal",)),
    ]
    assert fields(found.tensors[1])[0][3] == "its tensors stand elsewhere in the other version"
    assert change(split, SPEC, headers=HEADERS).classes == ("equal",)
    unlike = split.replace("like: attention", "tensors: {q_proj.weight: {shape: [4 * heads, hidden], "
                           "shard: column_parallel}, o_proj.weight: {shape: [hidden, heads * 4], shard: channel_cols}}")  # fmt: skip
    assert change(SPEC, unlike, headers=HEADERS).classes == ("layout",)


def test_a_file_that_was_refused_has_no_tensors_that_are_new() -> None:
    """Before, the names of a stored format were unknown, and the file did not load: now it does, and that is all."""
    packed = {"qweight": ("I32", (2, 32)), "qzeros": ("I32", (1, 4)), "scales": ("BF16", (1, 32))}
    headers = {name: header for name, header in HEADERS.items() if "q_proj" not in name}
    headers |= {f"layers.{i}.q_proj.{name}": header for i in range(2) for name, header in packed.items()}
    config = {**CONFIG, "quantization_config": {"bits": 4, "group_size": 16}}
    after = edited(
        ("[heads * 4, hidden], shard: channel_rows", "[heads * 4, hidden], shard: channel_rows, formats: [dense, gptq]")
    )
    found = change(SPEC, after, config, headers)
    assert found.classes == ("widens",)
    assert effect(found) == "tp=1, 2, 4 now load; tp=8 still does not load"


def test_work_between_the_ranks_of_some_of_the_tensors() -> None:
    """A pattern may have several entries: the same collectives in all, and not of each tensor."""
    half = SPEC.replace("{layer: layers}", "{layer: [0, 1]}")
    norm = "      n.weight: {shape: [heads * 4], shard: channel_rows%s}\n"
    rest = "  rest:\n    at: layers.{layer}\n    for: {layer: [1, layers]}\n    tensors:\n" + norm
    gone = "      o_proj.weight: {shape: [hidden, heads * 4], shard: channel_cols}\n"
    both = (", collective: sum_of_squares", "")
    before, after = (with_((norm + rest) % marks, half.replace(gone, "")) for marks in (both, both[::-1]))
    assert change(before, after).classes == ("collectives",)


def test_the_work_that_follows_is_shown() -> None:
    found = change(
        SPEC, edited(("[hidden, heads * 4], shard: channel_cols", "[hidden, hidden * 2], shard: replicated"))
    )
    assert found.classes == ("layout", "collectives")
    assert fields(item(found, O_PROJ))[-1] == ("collectives", "all_reduce over tp", None, "")
    marked = edited(("shard: channel_cols", "shard: channel_cols, collective: gather"))
    assert change(SPEC, marked).classes == ("equal",), "a gather is said of a vocabulary only"


@pytest.mark.parametrize(
    ("old", "new"),
    [("{size: n_heads}", "{size: 2 * n_heads}"), ("{size: n_heads}", "{size: n_heads, over: ep}"),
     ("{size: n_heads}", "{size: n_heads, within: kv}"), ("within: kv, size", "within: kvs, size")],
)  # fmt: skip
def test_an_axis_that_nothing_is_known_of(old: str, new: str) -> None:
    more = "q: {within: kv, size: n_heads}, kv: {size: hidden}, kvs: {size: hidden, if_uneven: spread}"
    text = BARE.replace("axes: {heads:", f"axes: {{{more}, heads:")
    text += "      n.weight: {shape: [q], shard: column_parallel}\n"
    assert change(text, text.replace(old, new)).classes[0] == "layout"


def test_another_twin() -> None:
    """Where the file lacks a tied tensor, it is the one that it is tied to."""
    tied = BARE + (
        "  ends:\n    tensors:\n      x.weight: {shape: [hidden], shard: replicated}\n"
        "      z.weight: {shape: [hidden], shard: replicated}\n"
        "      y.weight: {shape: [hidden], shard: replicated, tied_to: x.weight}\n"
    )
    assert change(tied, tied.replace("tied_to: x", "tied_to: z")).classes == ("layout", "narrows", "widens")
    assert change(tied, tied.replace(", tied_to: x.weight", "")).classes == ("narrows",)
