"""The report in a browser: by pointer, by keyboard, in light and dark, on a phone, and on paper."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.review.pages.browser import Opened
from tests.review.pages.reports import data_of
from tests.review.pages.test_report import page_of

pytest.importorskip("playwright", reason="playwright is not installed: pip install -e '.[dev]'")

Open = Callable[..., Opened]
PREFIX = "model.layers.*."
K_PROJ = f"{PREFIX}self_attn.k_proj.weight"


def _page(folder: Path, spec: str, name: str) -> Path:
    path = folder / f"{spec}.html"
    path.write_text(page_of(spec, name), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _page(tmp_path_factory.mktemp("llama"), "llama", "llama-3.1-8b")


@pytest.fixture(scope="session")
def glm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _page(tmp_path_factory.mktemp("glm"), "glm5_next", "glm-5.3-flash")


@pytest.fixture(scope="session")
def gpt_oss(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _page(tmp_path_factory.mktemp("gpt_oss"), "gpt_oss", "gpt-oss-20b-mxfp4")


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


def test_replicas_are_seen_and_told(opened: Open, llama: Path) -> None:
    page = opened(llama, "#mesh=tp%3D32")
    picture = page.picture(K_PROJ)
    assert picture.locator("pattern.shared").count() == 8
    assert picture.locator("pattern.shared").first.locator("rect").count() == 4
    box = picture.locator("rect.frame").bounding_box()
    page.page.mouse.move(box["x"] + 20, box["y"] + box["height"] * 3.5 / 8)
    assert page.tip[0] == "tp ranks 12–15" and page.tip[-1] == "4 ranks hold the same"
    assert page.picture("model.norm.weight").locator("pattern.every").count() == 1


def test_padding_is_outside_the_file(opened: Open, gpt_oss: Path) -> None:
    page = opened(gpt_oss, "#mesh=tp%3D8")
    picture = page.picture(f"{PREFIX}mlp.experts.down_proj_blocks")
    frame, padding = picture.locator("rect.frame").bounding_box(), picture.locator("rect.padding").bounding_box()
    assert picture.locator("rect.padding").count() == 1
    assert padding["x"] > frame["x"] + frame["width"] or padding["y"] > frame["y"] + frame["height"]
    page.page.mouse.move(padding["x"] + padding["width"] / 2, padding["y"] + padding["height"] / 2)
    assert page.tip == ["tp rank 7", "6 columns of zeros, not in the file"]


def test_segments_have_lines_and_words(opened: Open, tmp_path: Path) -> None:
    page = opened(_page(tmp_path, "qwen3_next", "qwen3-next-80b-a3b"), "#mesh=tp%3D4")
    picture = page.picture(f"{PREFIX}linear_attn.conv1d.weight")
    assert picture.locator("line.segment").count() == 2
    assert [text.split("\n")[-1] for text in picture.locator("text.word").all_text_contents()] == [
        "k_heads * key_dimk_heads * key_dim",
        "k_heads * key_dimk_heads * key_dim",
        "v_heads * value_dimv_heads * value_dim",
    ]


def numbers(picture: Any, kind: str = "on-rank") -> list[str]:
    """The ranks that a picture names."""
    return list(picture.locator(f"text.{kind}").all_text_contents())


def test_pieces_have_the_numbers_of_their_ranks(opened: Open, llama: Path, gpt_oss: Path) -> None:
    page = opened(llama, "#mesh=tp%3D16")
    assert numbers(page.picture(f"{PREFIX}self_attn.q_proj.weight")) == [str(rank) for rank in range(16)]
    assert numbers(page.picture(K_PROJ)) == [f"{rank}, {rank + 1}" for rank in range(0, 16, 2)]
    assert numbers(page.picture(f"{PREFIX}self_attn.o_proj.weight")) == [str(rank) for rank in range(16)]
    assert numbers(page.picture("model.norm.weight")) == []
    many = opened(llama, "#mesh=tp%3D32").picture(f"{PREFIX}mlp.down_proj.weight")
    assert (numbers(many), numbers(many, "beside")) == ([], ["0", "4", "8", "12", "16", "20", "24", "28"])
    page = opened(gpt_oss, "#mesh=tp%3D8")
    assert numbers(page.picture(f"{PREFIX}self_attn.o_proj.bias")) == ["0"], "the others add zeros"
    assert numbers(page.picture(f"{PREFIX}mlp.experts.gate_up_proj_blocks")) == list("0123456")
    assert numbers(page.picture(f"{PREFIX}mlp.experts.gate_up_proj_blocks"), "on-ground") == ["7"]
    page = opened(gpt_oss, "#mesh=tp%3D64")
    assert numbers(page.picture(f"{PREFIX}mlp.experts.gate_up_proj_blocks"), "beside")[-1] == "44", "the rest has none"
    zeros = page.picture(f"{PREFIX}self_attn.o_proj.bias").locator("rect.padding")
    assert zeros.count() == 1, "63 would be a blot"
    zeros.hover()
    assert page.tip[0].startswith("tp rank ") and page.tip[0] != "tp rank 0"


def test_a_mesh_dim_of_one_rank_cuts_nothing(opened: Open, gpt_oss: Path) -> None:
    page = opened(gpt_oss, "#mesh=tp%3D8")
    experts = page.page.get_by_role("img", name="experts: 32 elements over 1 rank. Arrow keys go through them.")
    assert experts.locator("text").text_content() == "every rank" and experts.locator("pattern.every").count() == 1
    experts.focus()
    page.press("ArrowRight")
    assert page.tip[0] == "every rank"
    assert page.article(f"{PREFIX}mlp.experts.gate_up_proj_blocks").locator(".dim-strip").count() == 0
    assert (
        opened(gpt_oss, "#mesh=ep%3D8")
        .article(f"{PREFIX}mlp.experts.gate_up_proj_blocks")
        .locator(".dim-strip")
        .count()
        == 1
    )


def test_words_of_segments_are_all_there(opened: Open, tmp_path: Path) -> None:
    """The last segment has 64 of 10304 rows: its word moves up to where there is room."""
    page = opened(_page(tmp_path, "nemotron_h", "nemotron-3-nano-30b-a3b"), "#mesh=tp%3D8")
    words = page.picture("backbone.layers.*.mixer.in_proj.weight").locator("text.word")
    assert words.evaluate_all("all => all.map((one) => one.lastChild.data)") == ["x", "x", "bc", "bc", "m_heads"]
    places = words.evaluate_all("all => all.map((one) => Number(one.getAttribute('y')))")
    assert all(b - a >= 9.9 for a, b in itertools.pairwise(places))


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


def test_64_ranks_can_be_told_apart(opened: Open, tmp_path: Path) -> None:
    page = opened(_page(tmp_path, "glm5_next", "glm-5.3-flash-nvfp4"), "#mesh=tp%3D64", color_scheme="light")
    strip = page.page.locator("#axes-list svg.strip").first
    fills = strip.evaluate("node => [...node.querySelectorAll('rect[style]')].map((one) => one.style.fill)")
    assert len(fills) == len(set(fills)) == 64
    heights = page.picture("model.language_model.embed_tokens.weight").evaluate(
        "node => [...node.querySelectorAll('g > rect[style]')].map((one) => one.getBoundingClientRect().height)"
    )
    assert len(heights) == 64 and min(heights) >= 3


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
