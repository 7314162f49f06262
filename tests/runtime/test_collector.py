"""The garbage collector rests while a plan is made, and only then."""

from __future__ import annotations

import gc

import pytest

from shardc.runtime.collector import collector_at_rest


def test_it_rests_inside_and_runs_after() -> None:
    assert gc.isenabled()
    with collector_at_rest():
        assert not gc.isenabled()
    assert gc.isenabled()


def test_it_runs_after_a_refusal() -> None:
    with pytest.raises(ValueError, match="refused"), collector_at_rest():
        raise ValueError("refused")
    assert gc.isenabled()


def test_one_that_was_off_stays_off() -> None:
    gc.disable()
    try:
        with collector_at_rest():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
