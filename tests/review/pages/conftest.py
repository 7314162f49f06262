"""Pages opened in Debian's Chromium. Where there is none the tests are skipped; where CI is set they fail."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.review.pages.browser import Opened
from tests.review.pages.reports import page_in

SCREENSHOTS = Path(__file__).parent.parent.parent / "artifacts" / "screenshots"


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    executable = shutil.which("chromium")
    if executable is None:
        reason = "chromium is not installed (apt-get install chromium)"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture
def opened(browser: Any) -> Iterator[Callable[..., Opened]]:
    """Opens a page; at the end of the test none may have had an error, a message or a request of its own."""
    pages: list[Opened] = []

    def open_(path: Path, hash: str = "", width: int = 1280, height: int = 900, **context: Any) -> Opened:
        page = Opened(browser, path, hash, width, height, context)
        pages.append(page)
        return page

    yield open_
    for page in pages:
        page.close()
        assert page.messages == []
        assert page.requests == [page.address]


@pytest.fixture(scope="session")
def screenshots() -> Path:
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    return SCREENSHOTS


@pytest.fixture(scope="session")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return page_in(tmp_path_factory.mktemp("llama"), "llama", "llama-3.1-8b")


@pytest.fixture(scope="session")
def glm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return page_in(tmp_path_factory.mktemp("glm"), "glm5_next", "glm-5.3-flash")


@pytest.fixture(scope="session")
def gpt_oss(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return page_in(tmp_path_factory.mktemp("gpt_oss"), "gpt_oss", "gpt-oss-20b-mxfp4")
