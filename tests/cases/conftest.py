"""The models of the cases' specs, each made once for all tests."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cases.support import Case
from tests.seeds.model import Model


@pytest.fixture(scope="session")
def model_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Case], Model]:
    """A case's spec, interpreted and generated."""
    made: dict[Path, Model] = {}

    def make(case: Case) -> Model:
        if case.spec not in made:
            made[case.spec] = Model(case.spec.read_text(), tmp_path_factory.mktemp("case"))
        return made[case.spec]

    return make
