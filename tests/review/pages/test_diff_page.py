"""The page of a diff: its words, and what it is like in a browser."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from shardc.review.compare.specs import spec_change
from shardc.review.diff import Diff, Evidence, SpecChange
from shardc.review.pages.diff_page import diff_html
from tests.cli.support import CONFIG, SPEC
from tests.review.pages.browser import Opened
from tests.review.pages.reports import embedded
from tests.review.support import change, edited, version

pytest.importorskip("playwright", reason="playwright is not installed: pip install -e '.[dev]'")

Open = Callable[..., Opened]
Q_PROJ = "layers.*.q_proj.weight"
NEW = "      norm: {shape: [hidden], shard: replicated}\n      o_proj"
AFTER = edited(
    ("size: n_heads}", "size: n_heads, granule: 2}"),
    ("[heads * 4, hidden]", "[4 * heads, hidden]"),
    ("      o_proj", NEW),
)


def _diff() -> Diff:
    renamed = spec_change("other", version(SPEC, file="other.yaml"), version("# a word\n" + SPEC, file="other.yaml"))
    evidence = (Evidence("tiny", "changed", "hidden_size 8 -> 16"),)
    return Diff("main", (change(SPEC, AFTER), renamed), evidence)


@pytest.fixture(scope="session")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("diff") / "diff.html"
    out.write_text(diff_html(_diff()), encoding="utf-8")
    return out


def test_the_same_diff_gives_the_same_bytes() -> None:
    assert diff_html(_diff()) == diff_html(_diff())


def test_nothing_changed() -> None:
    page = diff_html(Diff("HEAD", ()))
    assert "<h1>no spec changed</h1>" in page
    assert embedded(page) == {"specs": [], "cuts": [], "kept": []}


def test_the_tables_of_specs_and_changes(opened: Open, path: Path, screenshots: Path) -> None:
    page = opened(path, color_scheme="light", height=1400).page
    page.screenshot(path=screenshots / "diff-light.png")
    head = "2 specs changed · 2 tensors changed, 0 rewritten (equal), 1 added, 0 removed"
    assert page.locator("h1").inner_text() == head
    status = [row.split("\t") for row in page.locator(".status tbody tr").all_inner_texts()]
    assert [row[0] for row in status] == ["tiny.yaml", "other.yaml"]
    assert status[1][1] == "comments, spacing or words for readers: nothing else"
    assert page.locator(".status .class").all_inner_texts()[0].split() == ["layout", "SHD601"]
    changes = page.locator(".changes tbody tr").all_inner_texts()
    shape = next(text for text in changes if "[4 * heads, hidden]" in text)
    assert [Q_PROJ in shape, "[heads * 4, hidden]" in shape, "×2" in shape] == [True, True, True]
    assert page.locator("#evidence tbody tr").inner_text().split("\t") == ["tiny", "changed", "hidden_size 8 -> 16"]


def test_before_beside_after_on_one_scale(opened: Open, path: Path) -> None:
    page = opened(path, width=1280)
    page.page.locator(".compared select").select_option("2")
    pair = page.page.get_by_role("article", name=Q_PROJ, exact=True)
    pair.scroll_into_view_if_needed()
    pictures = pair.locator("svg.picture")
    pictures.nth(1).wait_for()
    frames = [pictures.nth(i).locator("rect.frame").bounding_box() for i in range(2)]
    sizes = [[round(frame[one], 2) for one in ("width", "height", "y")] for frame in frames]
    assert sizes[0] == sizes[1]
    assert frames[1]["x"] > frames[0]["x"] + frames[0]["width"]
    first = "node => node.querySelector('g > rect').style.fill"
    assert pictures.nth(0).evaluate(first) == pictures.nth(1).evaluate(first)
    rows = (["rows 0..8 of 32"], ["rows 0..2 and every 8 on, 4 times of 32", "here rows 0..2"])
    for frame, told in zip(frames, rows, strict=True):
        page.page.mouse.move(frame["x"] + 9, frame["y"] + 1.5)
        assert page.tip == ["tp rank 0", *told, "columns 0..16 of 16", "8 × 16 here: 256 B"]


def _written(folder: Path, *specs: SpecChange) -> Path:
    path = folder / "diff.html"
    path.write_text(diff_html(Diff("main", specs)), encoding="utf-8")
    return path


def test_pieces_too_thin_to_draw_are_not_taken_for_copies(opened: Open, tmp_path: Path) -> None:
    """Thousands of rows that go round the ranks: their colours would mix to the grey of what every rank holds."""
    before = SPEC.replace("heads * 4", "heads * 1024")
    after = edited(
        ("[heads * 1024, hidden], shard: channel_rows", "[1024 * heads, hidden], shard: column_parallel"), text=before
    )
    page = opened(_written(tmp_path, change(before, after)), "")
    page.page.locator(".compared select").select_option(label="tiny, tp=8")
    pair = page.page.get_by_role("article", name=Q_PROJ, exact=True)
    pair.scroll_into_view_if_needed()
    was, is_ = (pair.locator("svg.picture").nth(i) for i in range(2))
    is_.wait_for()
    assert was.locator("pattern").count() == 0 and is_.locator("pattern.every, pattern.shared").count() == 0
    assert is_.locator("pattern.turns rect").count() == 8
    assert was.locator("text.on-rank").all_text_contents() == list("01234567")
    assert is_.locator("text.on-rank").all_text_contents() == ["in turn"]
    box = is_.locator("rect.frame").bounding_box()
    page.page.mouse.move(box["x"] + 9, box["y"] + box["height"] / 2)
    assert page.tip[0].startswith("tp rank ") and page.tip[1].endswith("and every 8 on, 1024 times of 8192")
    assert page.tip[-1] == "8 ranks take turns here, 8,192 pieces: too thin to draw"


def test_an_output_that_the_file_has_not_is_told_in_words(opened: Open, tmp_path: Path) -> None:
    gate = "\n      g_proj.weight: {shape: [heads * 4, hidden], shard: channel_rows}\ntargets:"
    before = edited(("\ntargets:", gate))
    fused = "\n    outputs:\n      qg_proj.weight: {concat: [q_proj.weight, g_proj.weight]}\ntargets:"
    page = opened(_written(tmp_path, change(before, before.replace("\ntargets:", fused))))
    built = page.page.get_by_role("article", name="layers.*.qg_proj.weight", exact=True)
    assert built.locator(".said").all_inner_texts() == [
        "not built: the rank has the file's tensors",
        "8 x 16 of q_proj, g_proj, in 2 pieces",
    ]


def test_a_spec_that_is_new_has_one_side(opened: Open, tmp_path: Path) -> None:
    page = opened(_written(tmp_path, spec_change("tiny", None, version(SPEC))))
    assert page.page.locator(".missing").all_inner_texts() == ["there is no such spec"]
    assert page.page.locator(".side-name").all_inner_texts() == ["after", "after"]


def test_a_side_that_does_not_load_says_why(opened: Open, path: Path) -> None:
    page = opened(path)
    select = page.page.locator(".compared select")
    assert select.locator("option").all_inner_texts() == ["tiny, tp=1", "tiny, tp=2", "tiny, tp=4", "tiny, tp=8"]
    assert select.input_value() == "3"
    assert page.page.locator(".missing").first.inner_text() == (
        "does not load: SHD201 8 heads cannot be dealt to 8 tp ranks: 4 granules of 2, 0.5 (1 element) each"
    )
    assert page.page.locator(".bars").count() == 1 and page.page.locator(".bar").count() == 8


def test_the_mesh_by_keyboard(opened: Open, path: Path) -> None:
    page = opened(path)
    page.page.locator(".compared select").focus()
    page.press("Home")
    assert page.page.locator(".compared > header .note").inner_text() == "with other tensors, the rest byte-identical"
    assert page.rows == ["layers.*.norm"]
    assert page.page.locator(".missing").inner_text() == "not in the spec before"
    page.press("ArrowDown")
    assert page.rows == [Q_PROJ, "layers.*.norm"]
    page.press("Tab", "ArrowRight", "ArrowRight")
    assert page.tip[0] == "tp rank 1"


def test_regions_and_code_open_by_keyboard(opened: Open, path: Path) -> None:
    page = opened(path)
    page.page.locator(".compared select").select_option("1")
    regions = page.page.get_by_role("article", name=Q_PROJ, exact=True).locator("details.regions").nth(1)
    regions.locator("summary").focus()
    page.press("Enter")
    regions.locator("tbody tr").first.wait_for()
    assert regions.locator("tbody tr").nth(1).locator("th, td").all_inner_texts() == [
        "tp rank 1",
        "4..8 and every 8 on, 4 times",
        "0..16",
        "16 × 16",
        "512",
        "2",
    ]
    assert not page.page.locator(".code pre").is_visible()
    page.page.locator(".code summary").focus()
    page.press("Enter")
    assert page.page.locator(".code pre .removed").count() > 0
    assert page.page.locator(".code pre .added").all_inner_texts()[0].startswith("+")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_stands_in_the_way_of_assistive_tools(opened: Open, path: Path, scheme: str) -> None:
    page = opened(path, color_scheme=scheme)
    page.page.locator(".compared select").select_option("1")
    page.draw_all()
    page.open_all()
    assert page.violations() == []


def test_a_phone_scrolls_one_way(opened: Open, path: Path, screenshots: Path) -> None:
    page = opened(path, width=360, height=740)
    page.draw_all()
    page.open_all()
    assert page.page.evaluate("document.documentElement.scrollWidth") == 360
    page.page.screenshot(path=screenshots / "diff-narrow.png")


def test_markup_is_text(opened: Open, tmp_path: Path) -> None:
    markup = "</script><script>window.hit=1</script><img src=x onerror=window.hit=1>"
    when = json.dumps(f"style != '{markup}{chr(0x202E)}'")
    text = edited(
        ("n_heads: num_heads", "n_heads: num_heads, style: style"),
        ("    for: {layer: layers}", f"    for: {{layer: layers}}\n    when: {when}"),
        ("[heads * 4, hidden]", "[4 * heads, hidden]"),
    )
    broken = spec_change("broken", version(SPEC), version(SPEC.replace("name: tiny", f"name: {json.dumps(markup)}")))
    evidence = (Evidence(markup, "changed", markup),)
    out = tmp_path / "diff.html"
    out.write_text(
        diff_html(Diff(markup, (change(SPEC, text, {**CONFIG, "style": markup}), broken), evidence)), encoding="utf-8"
    )
    page = opened(out)
    page.draw_all()
    assert page.page.evaluate("window.hit") is None
    assert page.page.locator("img").count() == 0 and page.page.locator("script").count() == 2
    assert markup in page.page.locator(".changes").first.inner_text()
    assert "\\u202e" in page.page.locator(".changes").first.inner_text()
    assert page.page.locator(".error").first.inner_text().startswith("after SHD")
