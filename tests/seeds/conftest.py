"""The models of the specs in `specs/`, each made once for all tests."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.seeds.model import Model

SPECS = Path(__file__).parent / "specs"


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Model]:
    """`model("kda")`; with `change=(old, new)`, the spec in which one piece of text, found once, is another."""
    made: dict[tuple[str, tuple[str, str] | None], Model] = {}

    def make(name: str, change: tuple[str, str] | None = None) -> Model:
        if (name, change) not in made:
            text = (SPECS / f"{name}.yaml").read_text()
            if change is not None:
                assert text.count(change[0]) == 1
                text = text.replace(*change)
            made[name, change] = Model(text, tmp_path_factory.mktemp(name))
        return made[name, change]

    return make


@pytest.fixture
def gdn(model: Callable[..., Model]) -> Model:
    return model("gdn")
