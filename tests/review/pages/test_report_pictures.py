"""The pictures of a report in a browser: numbers, words, stripes and padding."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.review.pages.browser import Opened
from tests.review.pages.reports import page_in

pytest.importorskip("playwright", reason="playwright is not installed: pip install -e '.[dev]'")

Open = Callable[..., Opened]
PREFIX = "model.layers.*."
K_PROJ = f"{PREFIX}self_attn.k_proj.weight"


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
    page = opened(page_in(tmp_path, "qwen3_next", "qwen3-next-80b-a3b"), "#mesh=tp%3D4")
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
    page = opened(page_in(tmp_path, "nemotron_h", "nemotron-3-nano-30b-a3b"), "#mesh=tp%3D8")
    words = page.picture("backbone.layers.*.mixer.in_proj.weight").locator("text.word")
    assert words.evaluate_all("all => all.map((one) => one.lastChild.data)") == ["x", "x", "bc", "bc", "m_heads"]
    places = words.evaluate_all("all => all.map((one) => Number(one.getAttribute('y')))")
    assert all(b - a >= 9.9 for a, b in itertools.pairwise(places))


def test_64_ranks_can_be_told_apart(opened: Open, tmp_path: Path) -> None:
    page = opened(page_in(tmp_path, "glm5_next", "glm-5.3-flash-nvfp4"), "#mesh=tp%3D64", color_scheme="light")
    strip = page.page.locator("#axes-list svg.strip").first
    fills = strip.evaluate("node => [...node.querySelectorAll('rect[style]')].map((one) => one.style.fill)")
    assert len(fills) == len(set(fills)) == 64
    heights = page.picture("model.language_model.embed_tokens.weight").evaluate(
        "node => [...node.querySelectorAll('g > rect[style]')].map((one) => one.getBoundingClientRect().height)"
    )
    assert len(heights) == 64 and min(heights) >= 3
