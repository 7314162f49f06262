"""Contracts, names and orders: what of them is another class, and what is only written otherwise."""

from __future__ import annotations

import pytest

from tests.review.support import BARE, SPEC, change, edited, fields, swapped, with_


@pytest.mark.parametrize("before", [BARE, SPEC])
def test_a_contract_that_holds_wherever_it_was_tried(before: str) -> None:
    """A loader that asks for more refuses other configs."""
    asked = "contracts: [{use: vocab_64, with: {rows: hidden * 4}, when: hidden == 16}]\n"
    assert change(before, with_(asked, before)).classes == ("narrows",)
    assert change(with_(asked, before), before).classes == ("widens",)
    found = swapped(with_(asked, before), "hidden == 16", "hidden >= 16")
    tried = before == SPEC
    assert found.classes == (("equal",) if tried else ("narrows", "widens"))
    assert fields(found.contracts[0]) == [
        ("when", "hidden == 16", "hidden >= 16", "the same on every mesh that was tried" if tried else "")
    ]
    assert swapped(with_(asked, before), "hidden == 16", "hidden == 17").classes == ("narrows", "widens")


def test_contracts_in_another_order_ask_for_the_same() -> None:
    two = [f"{{use: vocab_64, with: {{rows: hidden * {n}}}}}" for n in (4, 8)]
    before, after = (with_(f"contracts: [{', '.join(asked)}]\n") for asked in (two, two[::-1]))
    found = change(before, after)
    assert (found.classes, found.contracts) == (("equal",), ())


def test_a_symbol_of_a_condition_has_another_name() -> None:
    tied = BARE + (
        "  ends:\n    tensors:\n      x.weight: {shape: [hidden], shard: replicated}\n"
        "      y.weight: {shape: [hidden], shard: replicated, tied_to: {name: x.weight, when: n_heads == 8}}\n"
    )
    assert change(tied, tied.replace("n_heads", "query_heads")).classes == ("equal",)


def test_an_index_of_a_condition_has_another_name() -> None:
    text = with_("  more:\n    at: layers.{layer}\n    for: {layer: layers}\n    when: has('layers.{layer}.q_proj.weight')\n"
                 "    tensors: {x.weight: {shape: [hidden], shard: replicated}}\n", BARE)  # fmt: skip
    found = change(text, text.replace("{layer}", "{i}").replace("{layer:", "{i:"))
    assert found.classes == ("equal",)
    assert {note for one in found.tensors for _, _, _, note in fields(one)} == {"equal formula"}


def test_ignored_tensors_in_another_order() -> None:
    one, two = (
        "{name: 'a.*', because: not wanted, optional: true}",
        "{name: 'b.*', because: not wanted, optional: true}",
    )
    before, after = (with_(f"ignore: [{', '.join(both)}]\n") for both in ((one, two), (two, one)))
    found = change(before, after)
    assert found.classes == ("equal",)
    assert [(one.name, one.note) for one in found.fields] == [("ignore", "the same in another order")]
    assert change(before, with_(f"ignore: [{one}]\n")).classes == ("coverage",)


def test_another_order_of_tensors_is_more_than_spacing() -> None:
    lines = SPEC.split("\n")
    at = next(i for i, line in enumerate(lines) if "q_proj" in line)
    lines[at], lines[at + 1] = lines[at + 1], lines[at]
    assert change(SPEC, "\n".join(lines)).classes == ("equal",)
    fields_ = edited(
        ("{shape: [heads * 4, hidden], shard: channel_rows}", "{shard: channel_rows, shape: [heads * 4, hidden]}")
    )
    assert change(SPEC, fields_).classes == ("cosmetic",)


def test_a_spec_with_errors_on_both_sides() -> None:
    broken = edited(("[heads * 4, hidden]", "[heds * 4, hidden]"))
    assert change(broken, broken + "# still\n").classes == ("equal",)


def test_names_that_hang_together_in_a_long_chain() -> None:
    """What a name means has one length, however much it is made of."""
    chain = "".join(f", a{i}: {{size: n_heads, within: {f'a{i - 1}' if i else 'heads'}}}" for i in range(60))
    text = SPEC.replace("{heads: {size: n_heads}", "{heads: {size: n_heads}" + chain)
    text = text.replace("[heads * 4, hidden]", "[a59 * 4, hidden]")
    assert change(text, text.replace("n_heads", "query_heads")).classes == ("equal",)
