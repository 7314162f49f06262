"""Every field of a spec: what it is when nothing is said, its short forms, and its choices."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from shardc.spec.model import DtypeRule, Loop, Tied
from tests.spec.example import axis, group, refused, spec, target, tensor


def values(model: BaseModel) -> dict[str, Any]:
    return {name: getattr(model, name) for name in type(model).model_fields}


def test_a_spec_in_which_little_is_said() -> None:
    found = values(spec())
    assert (list(found.pop("groups")), found.pop("dtype")) == (["all"], DtypeRule(file=["BF16"]))
    assert found == {
        "spec": 1, "name": "tiny", "architectures": ["Tiny"], "about": "", "root": None, "config": {}, "axes": {},
        "let": {}, "contracts": [], "ignore": [], "targets": [],
    }  # fmt: skip


def test_an_axis_of_which_little_is_said() -> None:
    assert values(axis()) == {
        "size": "8", "over": "tp", "within": None, "if_uneven": "error", "if_fewer": "error", "replicas": "blocked",
        "granule": 1, "pad_to": None, "pad_local_to": None, "role": None,
    }  # fmt: skip


def test_a_tensor_of_which_little_is_said() -> None:
    assert values(tensor()) == {
        "shape": ["4"], "shard": "replicated", "dims": None, "dtype": None, "formats": ["dense"], "when": None,
        "optional": False, "tied_to": None, "collective": None,
    }  # fmt: skip


def test_a_group_of_which_nothing_is_said() -> None:
    assert values(group()) == {
        "at": None, "loops": {}, "when": None, "like": None, "let": {}, "axes": {}, "tensors": {},
        "outputs": {},
    }  # fmt: skip


def test_a_target_of_which_little_is_said() -> None:
    assert values(target()) == {"checkpoint": "tiny", "tp": [1], "ep": [1]}


def test_formulas_may_be_plain_numbers_and_flags() -> None:
    assert tensor(shape=[4, "n * 2"], when=True).shape == ["4", "n * 2"]
    assert tensor(when=True).when == "true"
    assert axis(size=8).size == "8"
    assert group(let={"a": 2}).let == {"a": "2"}


def test_dtypes() -> None:
    assert tensor(dtype="F32").dtype == DtypeRule(file=["F32"])
    assert tensor(dtype=["F32", "BF16"]).dtype == DtypeRule(file=["F32", "BF16"])
    assert tensor(dtype={"file": "F32", "load": "BF16"}).dtype == DtypeRule(file=["F32"], load="BF16")


def test_ties() -> None:
    assert tensor(tied_to="embed").tied_to == Tied(name="embed")
    assert tensor(tied_to={"name": "embed", "when": "tied"}).tied_to == Tied(name="embed", when="tied")


def test_loops() -> None:
    loops = {"i": 2, "j": ["a", 4], "k": "experts", "l": {"start": 1, "stop": "n"}}
    assert group(**{"for": loops}).loops == {
        "i": Loop(start="0", stop="2"),
        "j": Loop(start="a", stop="4"),
        "k": Loop(start="0", stop="experts"),
        "l": Loop(start="1", stop="n"),
    }


def test_symbols() -> None:
    config = spec(config={"a": "x.y", "b": ["y", "z"], "c": {"key": "w", "else": 0}}).config
    assert values(config["a"]) == {"key": ["x.y"], "otherwise": None}
    assert values(config["b"]) == {"key": ["y", "z"], "otherwise": None}
    assert values(config["c"]) == {"key": ["w"], "otherwise": "0"}


def test_contracts_and_ignored_tensors() -> None:
    found = spec(
        contracts=[{"use": "marlin", "with": {"n": 64, "k": "local(q)"}}],
        ignore=[{"name": "model.visual.*", "because": "served elsewhere"}],
    )
    assert [values(contract) for contract in found.contracts] == [
        {"use": "marlin", "given": {"n": "64", "k": "local(q)"}, "when": None}
    ]
    assert [values(ignored) for ignored in found.ignore] == [{"name": "model.visual.*", "because": "served elsewhere"}]


@pytest.mark.parametrize(
    ("field", "choices"),
    [
        ("if_uneven", ["error", "spread", "ceil", "whole"]),
        ("if_fewer", ["error", "replicate"]),
        ("replicas", ["blocked", "cyclic"]),
        ("role", ["heads", "vocab", "experts", "plain"]),
    ],
)
def test_choices_of_an_axis(field: str, choices: list[str]) -> None:
    assert [getattr(axis(**{field: choice}), field) for choice in choices] == choices
    listed = ", ".join(f"`{choice}`" for choice in choices)
    assert refused(axes={"a": {"size": 8, field: "panic"}}) == (
        "SHD106",
        f"`panic` is not a choice for `{field}`: {listed}",
    )


@pytest.mark.parametrize("collective", ["gather", "masked_all_reduce", "sum_of_squares"])
def test_collectives(collective: str) -> None:
    assert tensor(collective=collective).collective == collective


@pytest.mark.parametrize("dims", [["in", "out"], ["out", "in"]])
def test_dims(dims: list[str]) -> None:
    assert tensor(dims=dims).dims == dims


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("over", "ep"), ("if_uneven", "spread"), ("if_uneven", "error"), ("if_fewer", "replicate"),
        ("replicas", "cyclic"), ("granule", 1), ("pad_to", 8), ("pad_local_to", 8),
    ],
)  # fmt: skip
def test_an_axis_within_another_is_dealt_with_it(field: str, value: object) -> None:
    """Even where it only repeats the default."""
    message = f"an axis within b is dealt with it; `{field}` belongs there"
    assert refused(axes={"a": {"size": 8, "within": "b", field: value}}) == ("SHD101", message)
    assert values(axis(within="b", role="heads"))["within"] == "b"


def test_a_padded_axis_is_even() -> None:
    message = "`pad_to` makes the axis even; `if_uneven` has nothing left to decide"
    for way in ("spread", "ceil", "whole"):
        assert refused(axes={"a": {"size": 8, "pad_to": 4, "if_uneven": way}}) == ("SHD101", message)
    assert axis(pad_to=4, if_uneven="error", pad_local_to=2).pad_to == 4
