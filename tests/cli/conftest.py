from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.changes import make_repository
from tests.cli.support import Folder, make_folder


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Folder:
    return make_folder(tmp_path, monkeypatch)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two published architectures with a checkpoint each, committed on main; a topic branch is checked out."""
    folder = tmp_path / "repository"
    make_repository(folder)
    monkeypatch.chdir(folder)
    return folder
