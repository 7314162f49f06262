"""The report in a browser: by pointer, by keyboard, in light and dark, on a phone, and on paper."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.review.pages.browser import Opened
from tests.review.pages.reports import data_of

pytest.importorskip("playwright", reason="playwright is not installed: pip install -e '.[dev]'")

Open = Callable[..., Opened]
PREFIX = "model.layers.*."
K_PROJ = f"{PREFIX}self_attn.k_proj.weight"


def test_every_tensor_is_drawn(opened: Open, glm: Path, screenshots: Path) -> None:
    page = opened(glm, color_scheme="light", height=1000)
    page.page.screenshot(path=screenshots / "report-light.png")
    names = [row["t"] for row in data_of("glm5_next", "glm-5.3-flash")["rows"]]
    assert sorted(page.rows) == sorted(names) and len(names) == 68
    page.draw_all()
    assert page.page.locator("svg.picture").count() == 68
    assert page.page.locator("#found").inner_text() == "68 rows"


def test_the_pointer_is_told_rank_rows_and_bytes(opened: Open, llama: Path) -> None:
    page = opened(llama, "#mesh=tp%3D8")
    picture = page.picture(K_PROJ)
    box = picture.locator("rect.frame").bounding_box()
    page.page.mouse.move(box["x"] + 20, box["y"] + box["height"] * 3.5 / 8)
    assert page.tip == [
        "tp rank 3",
        "rows 384..512 of 1024",
        "columns 0..4096 of 4096",
        "128 × 4096 here: 1.0 MiB (1,048,576 bytes)",
    ]
    page.page.mouse.move(box["x"] - 30, box["y"])
    assert page.tip == []


def test_arrow_keys_go_through_ranks(opened: Open, llama: Path) -> None:
    page = opened(llama, "#mesh=tp%3D8")
    page.picture(K_PROJ).focus()
    page.press("ArrowRight", "ArrowRight", "ArrowRight", "ArrowRight")
    assert page.tip[:2] == ["tp rank 3", "rows 384..512 of 1024"]
    assert page.page.locator("#said").inner_text().startswith("tp rank 3; rows 384..512 of 1024")
    page.press("End")
    assert page.tip[:2] == ["tp rank 7", "rows 896..1024 of 1024"]
    page.press("Escape")
    assert page.tip == []
    page.page.locator("#axes-list svg.strip").nth(1).focus()
    page.press("ArrowLeft")
    assert page.tip == ["tp rank 7", "kv_heads 7..8 of 8: 1"]
    page.page.locator(".bars").focus()
    page.press("ArrowRight")
    assert page.tip == [
        "rank 0",
        "1.87 GiB (2,008,031,232 bytes)",
        "1.87 GiB on this rank alone",
        "520.0 KiB on other ranks too",
    ]
    page.page.locator(".size-cells").first.focus()
    page.press("ArrowRight", "ArrowRight", "ArrowRight")
    assert page.tip[:3] == [
        "tp=3",
        "does not work",
        "SHD201 8 kv_heads cannot be dealt to 3 tp ranks: 2.67 each",
    ]


def test_search_by_keyboard(opened: Open, llama: Path) -> None:
    page = opened(llama)
    page.press("/")
    page.page.keyboard.type("layers.7.self_attn")
    assert page.rows == [f"{PREFIX}self_attn.{one}_proj.weight" for one in "qkvo"]
    assert page.page.locator("#found").inner_text() == "4 of 12 rows"
    page.press("Escape")
    assert len(page.rows) == 12
    for query, found in (("*.mlp.*", 3), ("model.layers.0.*norm*", 2), ("K_PROJ", 1), ("?m_head.weight", 1), ("(", 0)):
        page.press("Control+a")
        page.page.keyboard.type(query)
        assert (query, len(page.rows)) == (query, found)
    assert page.page.locator("#nothing").is_visible()


def test_filters_by_keyboard_are_kept_in_the_address(opened: Open, llama: Path) -> None:
    page = opened(llama)
    page.page.locator("#q").focus()
    page.press("Tab")
    page.page.keyboard.type("mlp")
    page.press("Tab")
    page.page.keyboard.type("row_p")
    assert page.rows == [f"{PREFIX}mlp.down_proj.weight"]
    page.press("Tab", "Tab", "Space")
    assert page.hash == "#group=mlp&kind=row_parallel&split=1"
    again = opened(llama, "#group=mlp&kind=row_parallel&split=1")
    assert again.rows == [f"{PREFIX}mlp.down_proj.weight"]
    assert again.page.locator("#split").is_checked()
    assert len(opened(llama, "#split=1&mesh=tp%3D1").rows) == 0
    assert len(opened(llama, "#mesh=tp%3D9&group=nope&rank=99&theme=blue&other=1").rows) == 0


def test_the_mesh_by_keyboard(opened: Open, llama: Path) -> None:
    page = opened(llama)
    assert page.page.locator("#mesh").input_value() == "tp=8"
    page.page.locator("#mesh").focus()
    page.press("ArrowDown")
    assert page.page.locator("#mesh").input_value() == "tp=16"
    assert page.hash == "#mesh=tp%3D16"
    assert "128 × 4096" in page.article(K_PROJ).locator(".figures").inner_text()
    assert page.page.locator(".bar").count() == 16
    page.press("Tab")
    page.page.keyboard.type("rank 3")
    assert page.hash == "#mesh=tp%3D16&rank=3"
    assert page.picture(K_PROJ).locator("rect[opacity='0.16']").count() == 7


def test_regions_open_by_keyboard(opened: Open, llama: Path) -> None:
    page = opened(llama, "#mesh=tp%3D8")
    article = page.article(K_PROJ)
    article.locator("summary").focus()
    page.press("Enter")
    article.locator("tbody tr").first.wait_for()
    cells = article.locator("tbody tr").nth(3).locator("th, td").all_inner_texts()
    assert cells == ["tp rank 3", "384..512", "0..4096", "128 × 4096", "1,048,576", "32"]
    assert article.locator("tbody tr").count() == 8


def test_the_theme_by_keyboard(opened: Open, llama: Path, screenshots: Path) -> None:
    page = opened(llama, color_scheme="light")
    ground = "getComputedStyle(document.body).backgroundColor"
    assert page.page.evaluate(ground) == "rgb(255, 255, 255)"
    page.page.locator("#theme").focus()
    page.press("Enter")
    assert page.page.evaluate(ground) == "rgb(13, 17, 23)"
    assert page.page.locator("#theme").inner_text() == "Theme: dark"
    page.page.screenshot(path=screenshots / "report-dark.png")
    page.press("Enter")
    assert (page.page.evaluate(ground), page.hash) == ("rgb(255, 255, 255)", "#theme=light")
    assert opened(llama, color_scheme="dark").page.evaluate(ground) == "rgb(13, 17, 23)"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_stands_in_the_way_of_assistive_tools(opened: Open, gpt_oss: Path, scheme: str) -> None:
    page = opened(gpt_oss, "#mesh=tp%3D4+ep%3D2", color_scheme=scheme)
    page.draw_all()
    page.page.locator("summary").first.click()
    page.picture(K_PROJ).hover()
    assert page.violations() == []


def test_a_phone_scrolls_one_way(opened: Open, glm: Path, gpt_oss: Path, screenshots: Path) -> None:
    for path in (glm, gpt_oss):
        page = opened(path, "#mesh=tp%3D8", width=360, height=740)
        page.draw_all()
        page.open_all()
        assert page.page.evaluate("document.documentElement.scrollWidth") == 360
        page.page.screenshot(path=screenshots / "report-narrow.png")


def test_on_paper_everything_is_drawn_and_nothing_is_a_control(opened: Open, llama: Path) -> None:
    page = opened(llama)
    page.page.emulate_media(media="print")
    page.draw_all()
    assert page.page.locator("svg.picture").count() == 12
    assert not page.page.locator("#mesh").is_visible() and not page.page.locator("#q").is_visible()


def test_motion_only_where_it_is_wanted(opened: Open, llama: Path) -> None:
    moves = "getComputedStyle(document.querySelector('.part')).transitionDuration"
    assert opened(llama, reduced_motion="reduce").page.evaluate(moves) == "0s"
    assert opened(llama, reduced_motion="no-preference").page.evaluate(moves) == "0.15s, 0.15s"


def test_links_scroll_and_leave_the_address(opened: Open, llama: Path) -> None:
    page = opened(llama, "#mesh=tp%3D4", reduced_motion="reduce")
    page.page.get_by_role("link", name="Sizes that work").click()
    assert page.hash == "#mesh=tp%3D4"
    assert page.page.evaluate("window.scrollY") > 500
    assert page.page.evaluate("document.activeElement.id") == "sizes"


def test_what_the_page_draws_is_what_the_data_says(opened: Open, llama: Path) -> None:
    page: Any = opened(llama, "#mesh=tp%3D8").page
    data = json.loads(page.locator("#data").text_content())
    assert data == {key: value for key, value in data_of("llama", "llama-3.1-8b").items() if key in data}
