"""Text that goes into HTML: data that cannot end its script, words that are no markup, a policy that names the script."""

from __future__ import annotations

import base64
import hashlib
import json
import re

from shardc.review.pages.embed import in_html
from tests.review.pages.reports import embedded
from tests.review.pages.test_report import llama_page

HOSTILE = "</script><!-- <img src=x onerror=alert(1)> & \u2028 \u2029 \ud800 \" ' \\ \x00"


def test_data_cannot_end_its_script() -> None:
    text = in_html({HOSTILE: [HOSTILE]})
    assert not re.search(r"[<>&\u2028\u2029]", text)
    assert text.isascii()
    assert json.loads(text) == {HOSTILE: [HOSTILE]}


def test_data_is_as_short_as_it_can_be() -> None:
    assert in_html({"a": [1, 2, None, True]}) == '{"a":[1,2,null,true]}'


def test_the_policy_allows_the_one_script_and_the_one_style() -> None:
    page = llama_page()
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    (style,) = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (script, style)]
    (policy,) = re.findall(r'<meta http-equiv="Content-Security-Policy" content="(.*?)">', page)
    assert policy == (
        f"default-src 'none'; script-src 'sha256-{digests[0]}'; style-src 'sha256-{digests[1]}'; "
        "base-uri 'none'; form-action 'none'"
    )
    assert page.index(policy) < page.index("<style>")
    assert embedded(page)["spec"] == "llama"
