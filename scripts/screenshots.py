"""docs/*.png: the pages that `shardc report` and `shardc diff` write, in Debian's Chromium.

    python -m scripts.screenshots

Needs the dev extra and chromium. The pictures depend on the machine's fonts, so no test compares them.
"""

from __future__ import annotations

import os
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
#: The change that the diff shows: a tensor in groups, a group a k head, is taken for one part after the other.
_EDIT = (
    "qwen3_next.yaml",
    "[k_heads * (key_dim | key_dim | group_v | group_v), hidden], shard: channel_rows",
    "[k_heads * key_dim | k_heads * key_dim | k_heads * group_v | k_heads * group_v, hidden], shard: segmented_rows",
)


@dataclass(frozen=True)
class Shot:
    """A picture of a page at `hash`, from the element `at` on; the element `hover` is pointed at.

    The page is the report of `spec`, or where there is none the diff of an edit.
    """

    name: str
    spec: str
    hash: str
    at: str
    width: int
    height: int
    dark: bool = False
    hover: str = ""


SHOTS = (
    Shot("report-light", "llama", "#mesh=tp%3D16", "body", 1280, 1180),
    Shot(
        "report-dark", "qwen3_next", "#mesh=tp%3D8", "#group-2", 1280, 900, True,
        "article[aria-label$='conv1d.weight'] svg.picture",
    ),
    Shot("report-narrow", "gpt_oss", "#mesh=tp%3D8&q=experts", "#tensors", 390, 844),
    Shot("report-diff", "", "", "body", 1280, 1330),
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
            if shot.spec:
                _shardc("report", f"specs/{shot.spec}.yaml", "-o", str(page), cwd=ROOT)
            else:
                page.write_text(_diff(Path(folder)), encoding="utf-8")
            click.echo(_take(browser, shot, page))
        browser.close()
    return 0


def _diff(folder: Path) -> str:
    """The page of one edit of the specs, in a repository of its own."""
    name, old, new = _EDIT
    specs = folder / "specs"
    (specs / "checkpoints").mkdir(parents=True)
    for table in (ROOT / "specs" / "checkpoints").glob("qwen3-next*"):
        shutil.copy(table, specs / "checkpoints")
    text = (ROOT / "specs" / name).read_text(encoding="utf-8")
    if text.count(old) != 1:
        raise SystemExit(f"{name} no longer has `{old}`; choose another edit")
    (specs / name).write_text(text, encoding="utf-8")
    identity = ("-c", "user.name=shardc", "-c", "user.email=shardc@example.org")
    for command in (("init", "-q", "-b", "main"), ("add", "specs"), (*identity, "commit", "-qm", "before")):
        subprocess.run(["git", *command], cwd=folder, check=True)
    (specs / name).write_text(text.replace(old, new), encoding="utf-8")
    return _shardc("diff", "--against", "main", "--format", "html", cwd=folder)


def _shardc(*arguments: str, cwd: Path) -> str:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "shardc", *arguments]
    return subprocess.run(command, cwd=cwd, env=environment, check=True, capture_output=True, text=True).stdout


def _take(browser: Browser, shot: Shot, path: Path) -> str:
    context = browser.new_context(
        viewport={"width": shot.width, "height": shot.height},
        color_scheme="dark" if shot.dark else "light",
        reduced_motion="reduce",
    )
    page = context.new_page()
    page.goto(path.as_uri() + shot.hash)
    page.locator(shot.at).first.evaluate("node => node.scrollIntoView()")
    page.wait_for_timeout(300)
    if shot.hover:
        page.locator(shot.hover).hover(position={"x": 74, "y": 117})
    out = ROOT / "docs" / f"{shot.name}.png"
    page.screenshot(path=out)
    context.close()
    size = out.stat().st_size
    return f"{out.relative_to(ROOT)}: {size:,} bytes" + (" (too large)" if size > _MOST_BYTES else "")


if __name__ == "__main__":
    sys.exit(main())
