"""Models of specs that are written in the tests, each made once."""

from __future__ import annotations

from collections.abc import Callable
from textwrap import dedent

import pytest

from tests.seeds.model import Model

HEAD = "spec: 1\nname: fused\narchitectures: [Fused]\ndtype: [BF16, F32]\n"


@pytest.fixture(scope="session")
def model_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Model]:
    """A spec of which everything but its head is given, interpreted and generated."""
    made: dict[str, Model] = {}

    def make(body: str) -> Model:
        if body not in made:
            made[body] = Model(HEAD + dedent(body), tmp_path_factory.mktemp("fused"))
        return made[body]

    return make
