"""Cases whose expectation is not a list of pieces."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import accumulate
from pathlib import Path

import pytest

from shardc.layout.units import in_entries
from shardc.runtime import Dim
from shardc.runtime.companions import companion_spans
from tests.cases.files import probe
from tests.cases.support import Case, check, read_cases, valid_tp, words
from tests.seeds.model import Kept, Model, write_checkpoint
from tests.support import bound, compiled

CASES = {case.id: case for case in read_cases()}
ModelOf = Callable[[Case], Model]


def kept(id: str, model_of: ModelOf, *, rank: int | None = None) -> dict[str, Kept]:
    """What the case's rank keeps, or another rank of tp."""
    case = CASES[id]
    mesh = case.mesh if rank is None else {"tp": (rank, case.sizes["tp"])}
    assert check(case) == []
    return model_of(case).kept(case.config, **mesh, headers=case.headers)


def test_these_are_all() -> None:
    others = [
        id
        for id, case in CASES.items()
        if case.expect["result"] == "ok"
        and not {"local", "outputs"} & case.expect.keys()
        and not case.files
        and case.kind != "memory"
    ]
    assert [id.partition("-")[0] for id in others] == [
        "B2",
        "B12",
        "C14",
        "C15",
        "D9",
        "F5",
        "L1",
        "L3",
        "M4",
        "N2",
        "O3",
        "P1",
        "P2",
        "Q3",
    ]


def test_groups_of_a_padded_checkpoint(model_of: ModelOf) -> None:
    case = CASES["B2-awq-padded-29696"]
    down = kept("B2-awq-padded-29696", model_of)
    assert down["down_proj.qweight"].local_shape[0] == case.expect["local_dim"]["down_proj"] == 3712
    assert down["down_proj.scales"].local_shape[0] == case.expect["local_dim"]["groups"] == 29
    assert valid_tp(case) == case.expect["valid_tp"] == [1, 2, 4, 8, 29]


def test_scale_rows_of_merged_parts(model_of: ModelOf) -> None:
    expect = CASES["B12-merged-scale-rows"].expect
    scales = kept("B12-merged-scale-rows", model_of)["merged.weight_scale_inv"]
    assert scales.shape == (expect["scale_rows_total"], 1) == (5, 1)
    parts = tuple(CASES["B12-merged-scale-rows"].config["parts"])
    placed = zip(expect["scale_row_offsets"], expect["scale_rows"], accumulate(parts), parts, strict=True)
    for offset, rows, stop, size in placed:
        weight_rows = ((stop - size, stop, 0),)
        assert in_entries(weight_rows, parts, 128, 1) == ((offset, offset + rows, 0),)
        assert companion_spans("scales", 0, weight_rows, parts, Dim("out", 128)) == ((offset, offset + rows, 0),)


def test_the_ranks_cover_each_row_once(model_of: ModelOf) -> None:
    expected = CASES["C14-coverage-invariant"].expect["rows_by_rank"]
    found = [kept("C14-coverage-invariant", model_of, rank=rank)["gate_proj.weight"].spans[0] for rank in range(4)]
    assert found == [[tuple(span)] for span in expected] == [[(0, 2)], [(2, 4)], [(4, 6)], [(6, 8)]]


def test_a_range_of_rows(model_of: ModelOf) -> None:
    expect = CASES["C15-narrow-length"].expect
    w = kept("C15-narrow-length", model_of)["w"]
    assert w.spans[0] == [tuple(expect["rows"])] == [(4, 8)]
    assert w.local_shape[0] == expect["length"] == 4


def test_columns_of_a_rank_with_padding(model_of: ModelOf) -> None:
    expect = CASES["D9-tp3-padded-mlp"].expect
    down = kept("D9-tp3-padded-mlp", model_of)["down_proj.weight"]
    assert down.at[1] == ((*expect["real_cols"], expect["zero_cols"]),) == ((11776, 17408, 256),)
    assert down.local_shape[1] == expect["local_width"] == 5888
    assert 3 * down.local_shape[1] == expect["padded"] == 17664


def test_a_rank_has_whole_groups_of_a_norm(model_of: ModelOf) -> None:
    expect = CASES["F5-mamba2-norm-group"].expect
    norm = kept("F5-mamba2-norm-group", model_of)["norm.weight"]
    assert norm.local_shape == tuple(expect["local_shape"]) == (8,)
    assert norm.local_shape[0] % expect["norm_group_size"] == 0


def test_which_layers_are_dense(model_of: ModelOf) -> None:
    assert list(kept("L1-first-k-dense", model_of)) == CASES["L1-first-k-dense"].expect["required"]


def test_a_dense_tensor_in_a_layer_of_experts() -> None:
    case = CASES["L1-first-k-dense"]
    stray = {"model.layers.2.mlp.gate_proj.weight": ("BF16", (8, 2))}
    strayed = replace(case, tensors={**case.tensors, **stray})
    assert [finding.code for finding in check(strayed)] == ["SHD402"]
    assert "model.layers.2.mlp.gate_proj.weight" in words(check(strayed))


def test_kv_heads_by_layer(model_of: ModelOf) -> None:
    expect = CASES["L3-nas-per-layer-kv"].expect
    found = {name: one.spans[0] for name, one in kept("L3-nas-per-layer-kv", model_of).items()}
    assert found == {name: [tuple(span)] for name, span in expect["rows"].items()}
    assert found == {"layers.0.k_proj.weight": [(10, 12)], "layers.2.k_proj.weight": [(4, 6)]}
    assert [i for i in range(3) if not any(f".{i}." in name for name in found)] == expect["no_attention_layers"] == [1]


def test_an_ignored_layer_is_not_loaded(model_of: ModelOf, tmp_path: Path) -> None:
    case = CASES["M4-mtp-extra-layer"]
    directory = write_checkpoint(tmp_path / "checkpoint", case.config, probe(case.tensors))
    assert check(case) == []
    loaded = model_of(case).module.load(directory, mesh=case.mesh)
    assert case.tensors.keys() - loaded.keys() == set(case.expect["ignored"])


def test_a_scalar_is_loaded_as_the_file_has_it(model_of: ModelOf, tmp_path: Path) -> None:
    case = CASES["N2-scale-0d-or-1"]
    load = model_of(case).module.load
    assert check(case) == []
    for shape in ((1,), ()):
        full = probe({"w1.weight_global_scale": ("F32", shape)})
        directory = write_checkpoint(tmp_path / f"dims{len(shape)}", case.config, full)
        assert load(directory, mesh=case.mesh)["w1.weight_global_scale"].shape == shape


def test_a_symbol_of_the_nested_config(model_of: ModelOf) -> None:
    expect = CASES["O3-nested-text-config"].expect
    embedding = kept("O3-nested-text-config", model_of)["language_model.embed_tokens.weight"]
    assert embedding.spans[0] == [tuple(expect["rows"])] == [(196_608, 262_144)]
    assert embedding.shape[0] == expect["symbols"]["vocab_size"] == 262_144
    case = CASES["O3-nested-text-config"]
    also = case.spec.read_text().replace("config: {", "config: {heads: num_attention_heads, ")
    assert bound(also, case.config).values["heads"] == expect["symbols"]["num_attention_heads"] == 8


def test_bytes_of_a_column_cut(model_of: ModelOf) -> None:
    expect = CASES["P1-byte-ranges-column"].expect
    w = kept("P1-byte-ranges-column", model_of)["w"]
    assert byte_ranges(w) == expect["reads"] == [[128, 256]]
    assert w.local_bytes == expect["bytes"] == 128


def test_bytes_of_a_row_cut(model_of: ModelOf) -> None:
    expect = CASES["P2-byte-ranges-row"].expect
    w = kept("P2-byte-ranges-row", model_of)["w"]
    assert byte_ranges(w) == expect["reads"]
    assert w.local_bytes == expect["bytes"] == 128
    assert {stop - start for start, stop in byte_ranges(w)} == {expect["run_bytes"]} == {16}


@pytest.mark.parametrize("rule", ["spread", "ceil"])
def test_six_rows_over_four_ranks(rule: str, tmp_path: Path) -> None:
    case = CASES["Q3-uneven-chunks"]
    model = Model(case.spec.read_text().replace("spread", rule), tmp_path)
    real = [
        (start, stop)
        for rank in range(4)
        for start, stop, _ in model.kept(case.config, tp=(rank, 4), headers=case.headers)["w"].at[0]
    ]
    assert [stop - start for start, stop in real] == case.expect["sizes"][rule]
    first, last = case.expect["rank3_rows"][rule]
    assert real[3] == ((first, last) if first < last else (0, 0))


def test_six_rows_over_four_ranks_is_refused_where_the_spec_states_no_rule() -> None:
    case = CASES["Q3-uneven-chunks"]
    plain = case.spec.read_text().replace(", if_uneven: spread", "")
    [fault] = compiled(plain, case.config, {"tp": 4}, case.headers).axes
    assert fault.error.code == "SHD201"


def byte_ranges(one: Kept) -> list[list[int]]:
    """Bytes [start, stop) of each run of a matrix of F32, counted from the tensor's first."""
    columns = one.shape[1]
    runs = [
        [4 * (row * columns + start), 4 * (row * columns + stop)]
        for first, last in one.spans[0]
        for row in range(first, last)
        for start, stop in one.spans[1]
    ]
    merged = runs[:1]
    for start, stop in runs[1:]:
        if start == merged[-1][1]:
            merged[-1][1] = stop
        else:
            merged.append([start, stop])
    return merged
