"""The comment of a pull request, in full, and what becomes of it when there is too much to say."""

from __future__ import annotations

import re
from html import escape

import pytest
from markdown_it import MarkdownIt
from msgspec.structs import replace

from shardc.review.diff import Checks, Diff, Evidence, Field, Item, SpecChange
from shardc.review.shown.markdown import LIMIT, as_markdown
from tests.review.support import SPEC, change, edited

SWAPPED = edited(("[heads * 4, hidden], shard: channel_rows", "[4 * heads, hidden], shard: column_parallel"))
COMMENT = """\
<!-- shardc:diff -->
### shardc: 1 spec changed · 1 tensor changed, 0 rewritten (equal), 0 added, 0 removed

| spec | effect | class |
| --- | --- | --- |
| `tiny.yaml` | tp=2, 4, 8 lay bytes out differently; tp=1 byte-identical | layout (SHD601) |

- **layout**: a mesh that loaded before places bytes differently: files and caches cut with the old spec do not fit

**TinyForCausalLM**

| tensor | field | before | after |
| --- | --- | --- | --- |
| `layers.*.q_proj.weight` ×2 | shape | `[heads * 4, hidden]` | `[4 * heads, hidden]` \
(same size, other storage order: each rank gets other rows) |
| `layers.*.q_proj.weight` ×2 | shard | `channel_rows` | `column_parallel` |

What a rank keeps, `tiny` at tp=2:

| tensor | before | after |
| --- | --- | --- |
| `layers.*.q_proj.weight` ×2 | `tp rank 0: 16 x 16, rows 0..16` | `tp rank 0: 16 x 16, rows 4 ranges of 4, every 8, from 0` |

<details><summary>Plans of <code>tiny</code>: 1 of 4 unchanged</summary>

| config | mesh | rank 0 before | after |  |
| --- | --- | --: | --: | --- |
| `tiny` | tp=2, 4, 8 | 512 B .. 2048 B | 512 B .. 2048 B | lay bytes out differently |

</details>
"""


def test_the_whole_comment() -> None:
    text = as_markdown(Diff("main", (change(SPEC, SWAPPED),), checks=Checks(contracts=1)))
    head, code = text.split("\n<details><summary>Generated code")
    assert head == COMMENT
    assert code.startswith(": <code>generated/tiny.py</code> +6 −5</summary>\n\n```diff\n--- a/generated/tiny.py\n")
    assert '\n+    q_proj = rt.Family((4 * heads.size, hidden), "column_parallel"' in code
    assert code.endswith("\n```\n\n</details>\n\nchecks: 1 contract holds · generated files current · 0 errors")


def test_nothing_changed() -> None:
    assert as_markdown(Diff("main", ())) == "<!-- shardc:diff -->\n### shardc: no spec changed"


def test_checkpoints_alone() -> None:
    text = as_markdown(Diff("main", (), (Evidence("tiny", "changed", "config: hidden_size"),)))
    assert text == (
        "<!-- shardc:diff -->\n### shardc: no spec changed · 1 recorded checkpoint changed\n\n"
        "| recorded checkpoint |  |  |\n| --- | --- | --- |\n| `tiny` | changed | `config: hidden_size` |"
    )


def many(count: int) -> Diff:
    """As many specs as one likes, each with another name."""
    one = change(SPEC, SWAPPED)
    assert one.after is not None
    specs = [
        replace(one, name=f"tiny_{i}", after=replace(one.after, file=f"specs/tiny_{i}.yaml")) for i in range(count)
    ]
    return Diff("main", tuple(specs))


@pytest.mark.parametrize("count", [1, 40, 100, 2000])
def test_a_comment_is_never_too_long(count: int) -> None:
    text = as_markdown(many(count))
    assert len(text) <= LIMIT
    assert ("_Left out, for the length of a comment: " in text) == (count > 1)
    assert text.endswith("checks: 0 contracts hold · generated files current · 0 errors")
    assert text.count("<details>") == text.count("</details>")


def test_sections_drop_from_the_bottom() -> None:
    text = as_markdown(many(40))
    assert "Generated code: <code>generated/tiny_0.py</code>" in text
    assert "Generated code: <code>generated/tiny_39.py</code>" not in text
    assert "Plans of <code>tiny_39</code>" in text
    assert "`generated code of tiny_39`" in text or re.search(r"and \d+ more sections", text)


def test_of_too_many_specs_the_last_are_counted() -> None:
    assert re.search(r"\n… and 1,\d{3} more specs\n", as_markdown(many(2000)))


HOSTILE = "`|<img src=x onerror=alert(1)> @everyone </details>\n# title\u202e"


def hostile() -> SpecChange:
    spec = change(SPEC, SWAPPED)
    span = spec.tensors[0].span
    items = (Item(HOSTILE, "changed", ("layout",), (Field("shape", HOSTILE, HOSTILE),), span, 3),)
    return replace(spec, name=HOSTILE, tensors=items, fields=(Field(HOSTILE, HOSTILE, None),))


def test_text_of_a_spec_is_text() -> None:
    """As a Markdown reader sees it: nothing of it ends a code span, a row or a fold, and nothing is hidden."""
    html = MarkdownIt("commonmark").enable("table").render(as_markdown(Diff("main", (hostile(),))))
    assert "<img" not in html
    assert html.count("<details>") == html.count("</details>") == 2
    assert html.count("<h1>") == 0
    assert "\u202e" not in html
    shown = escape(HOSTILE, quote=False).replace("\n", "\\n").replace("\u202e", "\\u202e")
    assert html.count(f"<code>{shown}</code>") == 6
    rows = re.findall(r"<tr>(.*?)</tr>", html, flags=re.DOTALL)
    assert {row.count("<td>") + row.count("<td ") for row in rows} <= {0, 3, 4, 5}
    assert all("@everyone" not in re.sub(r"<code>.*?</code>", "", row, flags=re.DOTALL) for row in rows)


def test_a_fence_in_generated_code_ends_nothing() -> None:
    spec = change(SPEC, edited(("dtype: BF16", "dtype: BF16\nabout: |\n  ```\n  </details>")))
    text = as_markdown(Diff("main", (spec,)))
    assert text.count("````diff\n") <= 1
    assert text.rstrip().endswith("errors")
