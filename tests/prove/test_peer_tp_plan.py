"""Two programs that cut the same models: what the page says of them, and that it is so."""

from __future__ import annotations

import re

import pytest

from scripts.peer_tp_plan import CASES, PAGE, Comparison, Side, compare, page
from shardc.prove.compare import Difference

RIGHT = Difference(1e-6, 1e-6)
WRONG = Difference(0.5, 0.1)
NUMBER = re.compile(r"\d\.\de[-+]\d\d")


def comparison(ours: Side, theirs: Side) -> Comparison:
    return Comparison("small", 2, {"k_proj.weight": [(4, 8)]}, ours, theirs)


@pytest.mark.parametrize(
    ("ours", "theirs", "verdict"),
    [
        (Side(RIGHT), Side(RIGHT), "both are right"),
        (Side(RIGHT), Side(None, {}, "ValueError: no"), "shardc is right; transformers fails: ValueError: no"),
        (Side(RIGHT), Side(WRONG), "shardc is right; transformers fails: wrong logits"),
        (Side(WRONG), Side(RIGHT), "transformers is right; shardc fails: wrong logits"),
        (Side(None, {}, "SHD201: no"), Side(WRONG), "neither: shardc SHD201: no; transformers wrong logits"),
    ],
)
def test_the_logits_of_the_whole_model_are_the_judge(ours: Side, theirs: Side, verdict: str) -> None:
    assert comparison(ours, theirs).verdict == verdict


def test_the_page_lists_weights_whose_local_shapes_differ() -> None:
    ours = Side(RIGHT, {"k_proj.weight": [(2, 8), (2, 8)], "o_proj.weight": [(8, 2), (8, 2)]})
    theirs = Side(WRONG, {"k_proj.weight": [(3, 8), (1, 8)], "o_proj.weight": [(8, 2), (8, 2)]})
    text = page([comparison(ours, theirs)])
    assert "| small | 2 | 1.0e-06 | 1.0e-01 | shardc is right; transformers fails: wrong logits |\n" in text
    assert text.endswith("|---|\n| small | 2 | k_proj.weight | [4, 8] | [2, 8] | [3, 8], [1, 8] |\n")


@pytest.mark.full
@pytest.mark.parametrize(("spec", "config", "sizes"), CASES)
def test_the_page_says_what_comes_of_it(spec: str, config: str, sizes: tuple[int, ...]) -> None:
    """Shapes, refusals and verdicts, line by line; of differences, whether there are any."""
    found = page(compare(spec, config, sizes))
    assert _lines(found, config) == _lines(PAGE.read_text(), config)


def _lines(text: str, config: str) -> list[str]:
    return [NUMBER.sub("#", line) for line in text.splitlines() if line.startswith(f"| {config} |")]


@pytest.mark.full
def test_half_a_kv_head_is_what_transformers_gives_a_rank() -> None:
    """4 ranks and 2 kv heads of 16 rows."""
    (found,) = compare("llama", "llama", [4])
    name = "model.layers.*.self_attn.k_proj.weight"
    assert found.ours.shapes[name] == [(16, 64)] * 4
    assert found.theirs.shapes[name] == [(8, 64)] * 4
    assert found.ours.right
    assert found.theirs.refused == "RuntimeError: shape '[2, 24, -1, 16]' is invalid for input of size 384"
