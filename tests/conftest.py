"""The same examples on every run, and no deadline: a slow machine is no failure."""

from typing import NoReturn

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "shardc",
    derandomize=True,
    deadline=None,
    max_examples=150,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)
settings.load_profile("shardc")


@pytest.fixture
def no_allocation(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes every allocation of a local tensor fail the test."""

    def refuse(*args: object, **kwargs: object) -> NoReturn:
        raise AssertionError("a tensor was allocated")

    monkeypatch.setattr("torch.empty", refuse)
