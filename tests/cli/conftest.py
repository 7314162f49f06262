from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.support import Folder, make_folder


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Folder:
    return make_folder(tmp_path, monkeypatch)
