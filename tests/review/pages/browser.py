"""A page in a browser, and what it says: its tooltip, its visible rows, its messages and requests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.review.pages.reports import address


class Opened:
    """`messages` are the console's and uncaught errors; `requests` the addresses that were asked for."""

    def __init__(self, browser: Any, path: Path, hash: str, width: int, height: int, context: dict[str, Any]) -> None:
        self.address = address(path)
        self.messages: list[str] = []
        self.requests: list[str] = []
        self._context = browser.new_context(viewport={"width": width, "height": height}, **context)
        self.page = self._context.new_page()
        self.page.set_default_timeout(10_000)
        self.page.on("console", lambda message: self.messages.append(message.text))
        self.page.on("pageerror", lambda error: self.messages.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url.partition("#")[0]))
        self.page.goto(self.address + hash)

    def close(self) -> None:
        self._context.close()

    def article(self, name: str) -> Any:
        """A tensor's row, in sight."""
        found = self.page.get_by_role("article", name=name, exact=True)
        found.scroll_into_view_if_needed()
        return found

    def picture(self, name: str) -> Any:
        """Its picture, drawn."""
        found = self.article(name).locator("svg.picture")
        found.wait_for()
        return found

    @property
    def tip(self) -> list[str]:
        """The lines of the tooltip; none where it is hidden."""
        tip = self.page.locator("#tip")
        return str(tip.inner_text()).splitlines() if tip.is_visible() else []

    @property
    def rows(self) -> list[str]:
        """The names of the rows that are shown."""
        names = "all => all.filter((one) => one.checkVisibility()).map((one) => one.getAttribute('aria-label'))"
        return list(self.page.locator("article").evaluate_all(names))

    @property
    def hash(self) -> str:
        """What the address keeps."""
        return str(self.page.evaluate("location.hash"))

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def draw_all(self) -> None:
        """What a browser asks for before it prints."""
        self.page.evaluate("window.dispatchEvent(new Event('beforeprint'))")

    def open_all(self) -> None:
        """Unfolds what is folded, and waits for the tables that are made then."""
        self.page.locator("details").evaluate_all("all => all.forEach((one) => { one.open = true; })")
        self.page.locator("details.regions tbody tr").first.wait_for()

    def violations(self) -> list[str]:
        """What axe-core finds."""
        from axe_playwright_python.sync_playwright import Axe

        found = Axe().run(self.page)
        return [f"{one['id']}: {[node['target'] for node in one['nodes']]}" for one in found.response["violations"]]
