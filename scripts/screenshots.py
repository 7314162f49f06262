"""docs/*.png: the pages that `shardc report` writes, in Debian's Chromium.

    python -m scripts.screenshots

Needs the dev extra and chromium. The pictures depend on the machine's fonts, so no test compares them.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import click
from playwright.sync_api import Browser, sync_playwright

ROOT = Path(__file__).parent.parent
_MOST_BYTES = 300_000


@dataclass(frozen=True)
class Shot:
    """A picture of `command`'s page at `hash`, from the element `at` on; the element `hover` is pointed at."""

    name: str
    command: tuple[str, ...]
    hash: str
    at: str
    width: int
    height: int
    dark: bool = False
    hover: str = ""


SHOTS = (
    Shot("report-light", ("report", "specs/llama.yaml"), "#mesh=tp%3D16", "body", 1280, 1180),
    Shot(
        "report-dark", ("report", "specs/qwen3_next.yaml"), "#mesh=tp%3D8", "#group-2", 1280, 900, True,
        "article[aria-label$='conv1d.weight'] svg.picture",
    ),
    Shot("report-narrow", ("report", "specs/gpt_oss.yaml"), "#mesh=tp%3D8&q=experts", "#tensors", 390, 844),
)  # fmt: skip


def main() -> int:
    executable = shutil.which("chromium")
    if executable is None:
        click.echo("chromium is not installed (apt-get install chromium)", err=True)
        return 2
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        for shot in SHOTS:
            page = Path(folder) / f"{shot.name}.html"
            subprocess.run([sys.executable, "-m", "shardc", *shot.command, "-o", str(page)], cwd=ROOT, check=True)
            click.echo(_take(browser, shot, page))
        browser.close()
    return 0


def _take(browser: Browser, shot: Shot, path: Path) -> str:
    scheme = "dark" if shot.dark else "light"
    context = browser.new_context(
        viewport={"width": shot.width, "height": shot.height}, color_scheme=scheme, reduced_motion="reduce"
    )  # fmt: skip
    page = context.new_page()
    page.goto(path.as_uri() + shot.hash)
    page.locator(shot.at).first.evaluate("node => node.scrollIntoView()")
    page.wait_for_timeout(300)
    if shot.hover:
        page.locator(shot.hover).hover(position={"x": 70, "y": 34})
    out = ROOT / "docs" / f"{shot.name}.png"
    page.screenshot(path=out)
    context.close()
    size = out.stat().st_size
    return f"{out.relative_to(ROOT)}: {size:,} bytes" + (" (too large)" if size > _MOST_BYTES else "")


if __name__ == "__main__":
    sys.exit(main())
