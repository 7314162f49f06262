"""A spec and a config whose every free text is markup: it is shown as text, and nothing of it runs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.support import CONFIG, SPEC, invoke, make_folder
from tests.review.pages.browser import Opened

pytest.importorskip("playwright", reason="playwright is not installed: pip install -e '.[dev]'")

MARKUP = "</script><script>window.hit=1</script><img src=x onerror=window.hit=1>"
ABOUT = (
    f"</title></style>{MARKUP}<svg onload=window.hit=1> {{{{ 7 * 7 }}}} &lt; \u2028 <a href=javascript:window.hit=1>"
)


def _hostile(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Markup in `about`, a condition, a symbol's value, a key, an architecture of the config and a reason."""
    made = make_folder(folder, monkeypatch)
    text = SPEC.replace("architectures:", f"about: {json.dumps(ABOUT)}\narchitectures:")
    text = text.replace(
        "n_heads: num_heads", f"n_heads: num_heads, style: style, odd: {{key: {json.dumps(MARKUP)}, else: 1}}"
    )
    text = text.replace("    for: {layer: layers}", f"    for: {{layer: layers}}\n    when: \"style == '{MARKUP}'\"")
    text = text.replace("targets:", f"ignore: [{{name: extra, because: {json.dumps(MARKUP)}}}]\ntargets:")
    made.spec.write_text(text)
    table = made.path / "specs" / "checkpoints" / "tiny.json"
    found = json.loads(table.read_text())
    found["config"] = {**CONFIG, "style": MARKUP, MARKUP: 1}
    found["tensor_groups"].append({"name": "extra", "dtype": "BF16", "shape": [1]})
    table.write_text(json.dumps(found))
    out = made.path / "out.html"
    result = invoke("report", made.spec, "-o", out)
    assert result.exit_code == 0, result.output
    return out


def test_markup_is_text(opened: Callable[..., Opened], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = _hostile(tmp_path, monkeypatch)
    page = opened(path)
    page.draw_all()
    page.open_all()
    assert page.page.evaluate("window.hit") is None
    assert page.page.locator("img, iframe, svg[onload], a[href^='javascript']").count() == 0
    assert page.page.locator("script").count() == 2
    assert page.page.locator(".lead").inner_text().startswith("</title></style></script><script>window.hit=1</script>")
    assert "{{ 7 * 7 }} &lt;" in page.page.locator(".lead").inner_text()
    assert page.page.locator(".group .for").inner_text() == f"layer in 0..layers, when style == '{MARKUP}'"
    assert MARKUP in page.page.locator("#config").inner_text()


def test_the_policy_stops_a_script_that_got_in(
    opened: Callable[..., Opened], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second line of defence, tried by planting what escaping would have stopped."""
    path = _hostile(tmp_path, monkeypatch)
    text = path.read_text(encoding="utf-8")
    planted = "<script>window.hit=1</script><img src=data:, onerror=window.hit=1>"
    path.write_text(text.replace('<main id="main">', f'<main id="main">{planted}'), encoding="utf-8")
    page = opened(path)
    assert page.page.locator("main img").count() == 1
    assert page.page.evaluate("window.hit") is None
    assert page.page.locator("article").count() == 2
    assert len(page.messages) >= 2 and all("Content Security Policy" in message for message in page.messages)
    page.messages.clear()
    page.requests[:] = [page.address]


def test_a_hostile_address_chooses_nothing(
    opened: Callable[..., Opened], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _hostile(tmp_path, monkeypatch)
    page = opened(path, "#mesh=%3Cimg%20src=x%20onerror=window.hit=1%3E&theme=__proto__&rank=-1&q=(((&__proto__=1")
    assert page.page.evaluate("window.hit") is None
    assert page.rows == []
    page.page.locator("#q").fill("")
    assert len(page.rows) == 2
