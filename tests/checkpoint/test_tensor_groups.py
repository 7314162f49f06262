import pytest

from shardc.checkpoint.file_findings import Fault
from shardc.checkpoint.headers import Header
from shardc.checkpoint.tensor_groups import TensorGroup, parse_group


def group(name: object = "a.{0}.b.{1}", index: object = None, **fields: object) -> dict[str, object]:
    ranges = [[[0, 1], [4, 4]], [[9, 11]]] if index is None else index
    return {"name": name, "index": ranges, "dtype": "BF16", "shape": [2], **fields}


def test_a_group_is_the_product_of_its_ranges() -> None:
    parsed = parse_group(group(), "g")
    assert isinstance(parsed, TensorGroup)
    assert parsed.header == Header("BF16", (2,))
    assert parsed.count == 9
    assert parsed.names() == [
        *("a.0.b.9", "a.0.b.10", "a.0.b.11"),
        *("a.1.b.9", "a.1.b.10", "a.1.b.11"),
        *("a.4.b.9", "a.4.b.10", "a.4.b.11"),
    ]


def test_placeholders_may_come_in_any_order() -> None:
    parsed = parse_group(group("{1}x{0}", [[[0, 0]], [[7, 8]]]), "g")
    assert isinstance(parsed, TensorGroup)
    assert parsed.names() == ["7x0", "8x0"]


@pytest.mark.parametrize("value", [{"name": "a", "dtype": "F32", "shape": []}, group("a", [], dtype="F32", shape=[])])
def test_a_group_without_placeholders_is_one_tensor(value: object) -> None:
    assert parse_group(value, "g") == TensorGroup(("a",), (), Header("F32", ()))


@pytest.mark.parametrize(
    "value",
    [
        None,
        [],
        {"name": "a", "dtype": "BF16"},
        group(extra=1),
        group(5),
        group("a" * 1001, []),
        group(index={}),
        group(index=[[[0, 1]], []]),
        group(index=[[[0, 1]], [[3, 2]]]),
        group(index=[[[0, 1]], [[-1, 2]]]),
        group(index=[[[0, 1]], [[0, 2**63]]]),
        group(index=[[[0, 1]], [[0]]]),
        group(index=[[[0, 1]], [0, 3]]),
        group(index=[[[0, 1]], [[True, True]]]),
        group(shape=[-1]),
        group(shape=[float("nan")]),
    ],
)
def test_a_malformed_group(value: object) -> None:
    fault = parse_group(value, "tensor_groups[3]")
    assert isinstance(fault, Fault)
    assert (fault.name, fault.problem) == ("tensor_groups[3]", "is malformed")


@pytest.mark.parametrize(
    ("name", "index", "expected"),
    [
        ("a", [[[0, 1]]], "each of {0} once"),
        ("a.{0}", [], "no placeholder"),
        ("a.{0}.{0}", [[[0, 1]]], "each of {0} once"),
        ("a.{1}", [[[0, 1]]], "each of {0} once"),
        ("a.{00}", [[[0, 1]]], "each of {0} once"),
        ("a.{0}.{x}", [[[0, 1]]], "each of {0} once"),
        ("a.{0}.{1}", [[[0, 1]]] * 4, "each of {0}, {1}, {2}, … once"),
    ],
)
def test_a_name_that_does_not_fit_its_index(name: str, index: object, expected: str) -> None:
    assert parse_group(group(name, index), "g") == Fault(
        "g", "has a name that does not fit its index", expected, repr(name)
    )


@pytest.mark.parametrize("dtype", ["F4", ["BF16"], None])
def test_an_unknown_dtype(dtype: object) -> None:
    fault = parse_group(group(dtype=dtype), "g")
    assert isinstance(fault, Fault)
    assert (fault.problem, fault.found) == ("has an unknown dtype", repr(dtype))
