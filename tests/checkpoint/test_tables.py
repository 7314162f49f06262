from collections.abc import Callable
from pathlib import Path

import pytest

from shardc.checkpoint.headers import Header
from shardc.checkpoint.json_text import JsonFile
from shardc.checkpoint.tables import table_headers
from shardc.diagnostics import Diagnostic
from shardc.plan.grid import Grid

Told = Callable[[list[Diagnostic]], list[tuple[str, object, object]]]

NORM = {"name": "norm", "dtype": "F32", "shape": [4]}
LAYERS = {"name": "l.{0}.w", "index": [[[0, 1]]], "dtype": "BF16", "shape": [2, 3]}


def table(groups: object, **members: object) -> JsonFile:
    return JsonFile(Path("t.json"), "", {"config": {}, "tensor_groups": groups, **members})


def test_every_tensor_in_the_tables_order() -> None:
    headers, findings = table_headers(table([NORM, LAYERS], n_tensors=3, bytes=40))
    assert findings == []
    assert headers is not None
    assert list(headers.items()) == [
        ("norm", Header("F32", (4,))),
        ("l.0.w", Header("BF16", (2, 3))),
        ("l.1.w", Header("BF16", (2, 3))),
    ]
    assert headers["l.0.w"] is headers["l.1.w"]


def test_a_table_of_no_tensors() -> None:
    assert table_headers(table([])) == ({}, [])


@pytest.mark.parametrize(
    ("data", "told_of"),
    [
        ({}, [("`config`, an object", "no `config`"), ("`tensor_groups`, a list", "no `tensor_groups`")]),
        ({"config": {}, "tensor_groups": {}}, [("`tensor_groups`, a list", "{}")]),
        ({"config": None, "tensor_groups": []}, [("`config`, an object", "None")]),
    ],
)
def test_a_file_that_is_no_table(told: Told, data: dict[str, object], told_of: list[tuple[str, str]]) -> None:
    headers, findings = table_headers(JsonFile(Path("t.json"), "", data))
    assert headers is None
    assert told(findings) == [("t.json: is not a tensor table", *values) for values in told_of]
    assert findings[0].help == "a checkpoint is a directory of config.json and *.safetensors, or a tensor table"


def test_malformed_groups_are_one_finding(told: Told) -> None:
    headers, findings = table_headers(table([3, NORM, {**NORM, "shape": [-1]}, {**NORM, "dtype": "F4"}]))
    assert headers is None
    assert [message for message, _, _ in told(findings)] == [
        "t.json: `tensor_groups[0]` is malformed",
        "t.json: `tensor_groups[3]` has an unknown dtype",
    ]
    assert findings[0].same_cause == ("tensor_groups[2]",)


@pytest.mark.parametrize(
    ("groups", "name", "place"),
    [
        ([NORM, NORM], "norm", "an earlier group"),
        ([{**NORM, "name": "l.1.w"}, LAYERS], "l.1.w", "an earlier group"),
        ([{**LAYERS, "index": [[[0, 1], [1, 2]]]}], "l.1.w", "its own group"),
    ],
)
def test_a_tensor_named_twice(told: Told, groups: list[object], name: str, place: str) -> None:
    headers, findings = table_headers(table(groups))
    assert headers is None
    assert told(findings) == [
        (f"t.json: `{name}` is named twice", "each tensor in one group", f"it is also in {place}")
    ]


def test_totals_are_checked_where_the_table_states_them(told: Told) -> None:
    headers, findings = table_headers(table([NORM, LAYERS], n_tensors=4, bytes="40"))
    assert headers is None
    assert told(findings) == [
        ("t.json: states `n_tensors` that its groups do not have", "3", "4"),
        ("t.json: states `bytes` that its groups do not have", "40", "'40'"),
    ]


@pytest.mark.parametrize(
    "group",
    [
        {**LAYERS, "index": [[[0, 5_000_000]]]},
        {**LAYERS, "index": [[[0, 2**63 - 1]]]},
        {**LAYERS, "name": "".join(f"{{{i}}}" for i in range(190)), "index": [[[0, 2**63 - 1]]] * 190},
    ],
)
def test_a_table_that_would_fill_the_memory_is_refused_at_once(told: Told, group: object) -> None:
    headers, findings = table_headers(table([group]))
    assert headers is None
    assert told(findings) == [("t.json: holds too many tensors", "at most 5,000,000", "more")]


def test_a_large_table_is_counted_without_its_names() -> None:
    experts = {"index": [[[0, 45]], [[0, 287]]], "dtype": "U8", "shape": [2048, 2048]}
    groups = [{"name": f"layers.{{0}}.experts.{{1}}.{part}", **experts} for part in "abcdefgh"]
    headers, _ = table_headers(table(groups))
    assert headers is not None
    assert (len(headers), headers.bytes) == (105_984, 105_984 * 2048 * 2048)
    assert "by_name" not in vars(headers)
    assert len(list(headers)) == 105_984


def test_groups_are_grids() -> None:
    groups = [
        {"name": "l.{0}.up", "index": [[[0, 2]]], "dtype": "U8", "shape": [4]},
        {"name": "l.7.up", "dtype": "F32", "shape": []},
    ]
    headers, _ = table_headers(table(groups))
    assert headers is not None and headers.grids is not None
    assert headers.grids.headers == {
        Grid("l.{}.up", ((0, 1, 2),)): Header("U8", (4,)),
        Grid("l.{}.up", ((7,),)): Header("F32", ()),
    }
    assert set(headers.grids.by_template) == {"l.{}.up"}
    assert "by_name" not in vars(headers), "no name was written out"
    assert (len(headers), headers.bytes) == (4, 16)


@pytest.mark.parametrize(
    "groups",
    [
        [{"name": "h{0}.up", "index": [[[0, 2]]], "dtype": "U8", "shape": [4]}],
        [{"name": f"l.{i}.up", "dtype": "U8", "shape": [4]} for i in range(200)],
    ],
    ids=["numbers inside words", "one group a tensor"],
)
def test_a_table_without_grids_still_has_its_names(groups: list[object]) -> None:
    headers, findings = table_headers(table(groups))
    assert headers is not None and not findings
    assert headers.grids is None
    assert len(headers) == len(list(headers))
    assert set(headers.values()) == {Header("U8", (4,))}
