"""The small model of the runtime's tests, cut for 4 ranks."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.store.support import make


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `original` and `cut`."""
    return make(tmp_path_factory.mktemp("made"))


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    """A copy of it, to be changed."""
    return Path(shutil.copytree(made, tmp_path / "made"))
