"""The model of each variant, made once for all tests."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.formats.checkpoints import text
from tests.formats.variants import VARIANTS
from tests.seeds.model import Model


@pytest.fixture(scope="session")
def model_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Model]:
    """The spec of a variant, interpreted and generated."""
    made: dict[str, Model] = {}

    def make(name: str) -> Model:
        if name not in made:
            made[name] = Model(text(VARIANTS[name]), tmp_path_factory.mktemp("format"))
        return made[name]

    return make
