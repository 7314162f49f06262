"""Every field of a spec: what it is when nothing is said, its short forms, and its choices."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from shardc.spec.group import DtypeRule, Tied
from tests.spec.example import TENSOR, axis, group, refused, spec, target, tensor


def values(model: BaseModel) -> dict[str, Any]:
    return {name: getattr(model, name) for name in type(model).model_fields}


def test_a_spec_in_which_little_is_said() -> None:
    found = values(spec())
    assert (list(found.pop("groups")), found.pop("dtype")) == (["all"], DtypeRule(file=["BF16"]))
    assert found == {
        "spec": 1, "name": "tiny", "architectures": ["Tiny"], "about": "", "root": None, "config": {}, "axes": {},
        "formats": {}, "let": {}, "contracts": [], "ignore": [], "targets": [],
    }  # fmt: skip


def test_an_axis_of_which_little_is_said() -> None:
    assert values(axis()) == {
        "size": "8", "over": "tp", "within": None, "if_uneven": "error", "if_fewer": "error", "replicas": "blocked",
        "granule": 1, "pad_to": None, "pad_local_to": None, "placement": "contiguous", "role": None,
    }  # fmt: skip


def test_a_tensor_of_which_little_is_said() -> None:
    assert values(tensor()) == {
        "shape": ["4"], "shard": "replicated", "dims": None, "dtype": None, "formats": ["dense"], "when": None,
        "optional": False, "tied_to": None, "collective": None, "on": None,
    }  # fmt: skip


def test_a_group_of_which_nothing_is_said() -> None:
    assert values(group()) == {
        "at": None, "loops": {}, "when": None, "on": {}, "like": None, "use": [], "let": {}, "axes": {}, "tensors": {},
        "outputs": {},
    }  # fmt: skip


def test_a_target_of_which_little_is_said() -> None:
    assert values(target()) == {"checkpoint": "tiny", "tp": [1], "ep": [1], "pp": [1], "mesh": {}}


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
    loops = {"i": 2, "j": ["a", 4], "k": "experts", "l": {"from": 1, "to": "n"}}
    assert {index: values(loop) for index, loop in group(**{"for": loops}).loops.items()} == {
        "i": {"of": None, "start": "0", "stop": "2"},
        "j": {"of": None, "start": "a", "stop": "4"},
        "k": {"of": None, "start": "0", "stop": "experts"},
        "l": {"of": None, "start": "1", "stop": "n"},
    }


def test_loops_over_a_part_of_an_axis() -> None:
    loops = {"i": {"of": "layers", "to": "dense"}, "j": {"of": "layers", "from": "dense"}, "k": {"of": "layers"}}
    assert {index: values(loop) for index, loop in group(**{"for": loops}).loops.items()} == {
        "i": {"of": "layers", "start": "0", "stop": "dense"},
        "j": {"of": "layers", "start": "dense", "stop": None},
        "k": {"of": "layers", "start": "0", "stop": None},
    }


def test_an_index_ends_somewhere() -> None:
    message = "an index needs an end: a count, [from, to], an axis, or {of: axis, from: …, to: …}"
    assert refused(groups={"g": {"for": {"layer": {"from": 1}}}}) == ("SHD101", message)


def test_the_ends_of_a_mesh_dim() -> None:
    found = group(only={"pp": "first", "cp": ["first", "last"]}, tensors={"w": {**TENSOR, "only": {"pp": "last"}}})
    assert found.on == {"pp": ["first"], "cp": ["first", "last"]}
    assert found.tensors["w"].on == {"pp": ["last"]}


@pytest.mark.parametrize(
    ("only", "code", "message"),
    [
        ({"pp": "middle"}, "SHD106", "`middle` is not a choice for `pp`: `first`, `last`"),
        ({"pp": 0}, "SHD106", "`0` is not a choice for `pp`: `first`, `last`"),
        ({"pp": []}, "SHD101", "`pp` must hold at least 1"),
        ({"pp": ["last", "last"]}, "SHD101", "`last` is given twice"),
        ({"PP": "last"}, "SHD101", "`PP` is not a name that can stand here"),
        ("first", "SHD101", "`only` must be a mapping, not `first`"),
    ],
)
def test_what_is_no_end(only: object, code: str, message: str) -> None:
    assert refused(groups={"g": {"only": only}}) == (code, message)


def test_the_sizes_of_a_target() -> None:
    found = target(tp=[1, 2], pp=[4], mesh={"attn_tp": [1, 8]})
    assert found.sizes == {"tp": [1, 2], "ep": [1], "pp": [4], "attn_tp": [1, 8]}


@pytest.mark.parametrize("name", ["tp", "ep", "pp"])
def test_a_mesh_dim_with_a_field_of_its_own(name: str) -> None:
    message = f"{name} has a field of its own: take it out of `mesh:`, and write `{name}:` beside it"
    assert refused(targets=[{"checkpoint": "tiny", "mesh": {name: [1]}}]) == ("SHD101", message)


def test_symbols() -> None:
    config = spec(
        config={"a": "x.y", "b": ["y", "z"], "c": {"key": "w", "else": 0}, "d": {"tensor": "*.up", "dim": 1}}
    ).config
    assert [(one.key, one.tensor, one.dim, one.otherwise) for one in config.values()] == [
        (["x.y"], None, 0, None),
        (["y", "z"], None, 0, None),
        (["w"], None, 0, "0"),
        (None, "*.up", 1, None),
    ]


def test_contracts_and_ignored_tensors() -> None:
    found = spec(
        contracts=[{"use": "marlin", "with": {"n": 64, "k": "local(q)"}}],
        ignore=[{"name": "model.visual.*", "because": "served elsewhere"}],
    )
    assert [values(contract) for contract in found.contracts] == [
        {"use": "marlin", "given": {"n": "64", "k": "local(q)"}, "when": None}
    ]
    assert [values(ignored) for ignored in found.ignore] == [
        {"name": "model.visual.*", "because": "served elsewhere", "optional": False}
    ]


@pytest.mark.parametrize(
    ("field", "choices"),
    [
        ("if_uneven", ["error", "spread", "ceil", "whole"]),
        ("if_fewer", ["error", "replicate"]),
        ("replicas", ["blocked", "cyclic"]),
        ("placement", ["contiguous", "round_robin"]),
        ("role", ["heads", "vocab", "experts", "layers", "plain"]),
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
        ("replicas", "cyclic"), ("granule", 1), ("pad_to", 8), ("pad_local_to", 8), ("placement", "round_robin"),
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


@pytest.mark.parametrize(
    ("fields", "said"),
    [({"pad_to": 4}, "pad_to"), ({"pad_local_to": 4}, "pad_local_to"), ({"if_uneven": "ceil"}, "if_uneven: ceil")],
)
def test_round_robin_does_not_pad(fields: dict[str, object], said: str) -> None:
    message = f"`placement: round_robin` deals granules one by one; `{said}` would pad them"
    assert refused(axes={"a": {"size": 8, "placement": "round_robin", **fields}}) == ("SHD101", message)


@pytest.mark.parametrize("fields", [{"if_uneven": "spread"}, {"if_uneven": "whole"}, {"if_fewer": "replicate"}])
def test_what_goes_with_round_robin(fields: dict[str, object]) -> None:
    assert axis(placement="round_robin", granule=2, **fields).placement == "round_robin"
