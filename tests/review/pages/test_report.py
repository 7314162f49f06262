"""The report's text: the same each time, small, and in need of nothing else."""

from __future__ import annotations

import re
from functools import cache

from tests.review.pages.reports import embedded, page_of

MOST_BYTES = 3_000_000


@cache
def llama_page() -> str:
    return page_of("llama", "llama-3.1-8b")


def test_the_same_plans_give_the_same_bytes() -> None:
    assert page_of("llama", "llama-3.1-8b") == llama_page()


def test_nothing_is_fetched_and_no_address_is_in_it() -> None:
    page = llama_page()
    assert re.findall(r"https?://[^\"' )]+", page) == ["http://www.w3.org/2000/svg"]
    assert not re.search(r"<(link|img|iframe|object|embed|base)\b|\bsrc=|@import|url\((?!#)", page)


def test_no_path_of_this_machine_is_in_it() -> None:
    assert "/checkpoints/" not in llama_page()


def test_76_thousand_tensors_fit_into_a_small_file() -> None:
    page = page_of("glm5_next", "glm-5.3-flash")
    assert len(page.encode()) < MOST_BYTES
    data = embedded(page)
    assert (data["all"], data["tensors"], len(data["rows"])) == (76_108, 75_761, 68)
