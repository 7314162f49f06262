"""Faults that are planted are found: by what the table says, and by nothing else."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from scripts.detectors import computes, detector, said
from scripts.fault_page import PAGE, page
from scripts.planted import Edit, Fault, faults

FAULTS = faults()
NUMBERS = ("SHD701", "SHD702")
#: One of each family whose numbers every run of the tests looks at; the others are `pytest -m full`.
SAMPLE = {
    "heads-dealt-by-themselves",
    "o-bias-on-each-rank",
    "per-head-as-thirds",
    "mamba-conv-order",
    "experts-apart",
    "latent-k-and-v-apart",
}


def by_name(fault: Fault) -> str:
    return f"{fault.of}-{fault.name}"


def cost(fault: Fault) -> pytest.param:
    return pytest.param(fault, marks=() if fault.name in SAMPLE else pytest.mark.full, id=by_name(fault))


@pytest.mark.parametrize("fault", FAULTS, ids=by_name)
def test_what_check_and_verify_say_of_a_fault(fault: Fault) -> None:
    assert said(fault) == {code for code in fault.caught if code not in NUMBERS}


@pytest.mark.parametrize("fault", list({(one.of, one.config): one.clean for one in FAULTS}.values()), ids=by_name)
def test_nothing_is_said_without_the_fault(fault: Fault) -> None:
    # A fault may need a mesh that is refused without it.
    assert said(replace(fault, mesh={"tp": 1})) == set()


@pytest.mark.parametrize("fault", [cost(fault) for fault in FAULTS])
def test_what_the_ranks_compute_with_a_fault(fault: Fault) -> None:
    found = computes(fault)
    assert {found.code} - {""} == fault.caught & set(NUMBERS), found


def test_the_table_is_wide_enough() -> None:
    assert len(FAULTS) >= 22
    assert len({fault.of for fault in FAULTS}) >= 7
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)
    assert {fault.name for fault in FAULTS} >= SAMPLE


@pytest.mark.parametrize("fault", FAULTS, ids=by_name)
def test_every_fault_is_planted_and_caught(fault: Fault) -> None:
    assert fault.places
    assert fault.caught
    for code in fault.caught:
        assert detector(code)


def test_an_edit_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="has this 2 times, not 1: a"):
        Edit("a", "b").applied("a a", "a text")


def test_the_page_is_current_but_for_its_numbers() -> None:
    assert without_numbers(PAGE.read_text(encoding="utf-8")) == without_numbers(page(FAULTS, {}))


def without_numbers(text: str) -> str:
    return re.sub(r"\| [^|]* \|$", "|", text, flags=re.MULTILINE)
