"""How large the report of glm5_next is, how long it takes to write, and how long Chromium takes to open it.

    python bench/report.py [ROUNDS]

Opening is from the start of the navigation to the first frame in which every picture in the window is drawn. Needs the
dev extra and Debian's chromium.
"""

from __future__ import annotations

import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

ROOT = Path(__file__).parent.parent
SPECS = {
    "glm-5.3-flash (76,108 tensors), tp=8": ("specs/glm5_next.yaml", "glm-5.3-flash", ""),
    "the same, at its tensors": ("specs/glm5_next.yaml", "glm-5.3-flash", "#tensors"),
    "glm-5.3-flash-nvfp4 (113,074 tensors), tp=64": ("specs/glm5_next.yaml", "glm-5.3-flash-nvfp4", "#mesh=tp%3D64"),
    "llama-3.1-8b (291 tensors), tp=8": ("specs/llama.yaml", "llama-3.1-8b", ""),
}
#: Milliseconds until all pictures that are in the window are drawn and a frame was shown.
DRAWN = """async () => {
  const inside = (node) => {
    const box = node.getBoundingClientRect();
    return box.bottom > 0 && box.top < innerHeight;
  };
  for (;;) {
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    const places = [...document.querySelectorAll('.picture-place')];
    if (places.length && places.filter(inside).every((one) => one.firstChild)) return performance.now();
  }
}"""


def main(rounds: int) -> None:
    executable = shutil.which("chromium")
    if executable is None:
        sys.exit("chromium is not installed (apt-get install chromium)")
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        for name, (spec, checkpoint, hash) in SPECS.items():
            page = Path(folder) / "report.html"
            command = [sys.executable, "-m", "shardc", "report", spec, "--checkpoint", checkpoint, "-o", str(page)]
            started = time.perf_counter()
            subprocess.run(command, cwd=ROOT, check=True, stderr=subprocess.DEVNULL)
            written = time.perf_counter() - started
            times = [_open(browser, page, hash) for _ in range(rounds)]
            print(
                f"{name:46}  {page.stat().st_size / 1000:6.0f} kB   written in {written:5.2f} s   "
                f"opens in {statistics.median(times):5.0f} ms median, {min(times):5.0f} ms best"
            )
        browser.close()


def _open(browser: Browser, path: Path, hash: str) -> float:
    """Milliseconds of one opening, in a context of its own."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    page = context.new_page()
    page.goto(path.as_uri() + (hash if hash.startswith("#mesh") else ""), wait_until="commit")
    if hash == "#tensors":
        page.wait_for_selector("#tensors article")
        page.evaluate("document.getElementById('tensors').scrollIntoView()")
    taken = float(page.evaluate(DRAWN))
    context.close()
    return taken


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
