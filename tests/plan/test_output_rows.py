"""Outputs in the table and in the data of a plan."""

from __future__ import annotations

from shardc.plan.as_json import as_json
from shardc.plan.as_text import as_markdown, as_text
from tests.plan.support import OUTPUTS
from tests.support import compiled

COMPILED = compiled(OUTPUTS, {}, {"tp": 2, "ep": 2})
RANK = {"tp": 1, "ep": 1}


def test_the_table() -> None:
    lines = as_text(COMPILED, RANK).splitlines()
    at = lines.index("")
    assert lines[at : at + 7] == [
        "",
        "output       layers  per rank  built of",
        "-----------  ------  --------  -----------------",
        "layers.*.ba  x2      6 x 1     b, a by heads",
        "layers.*.q   x2      8 x 1     q permuted",
        "experts.w            2 x 4     up of each expert",
        "",
    ]


def test_markdown() -> None:
    lines = as_markdown(COMPILED, RANK, "layers.0.ba").splitlines()
    assert lines[2:7] == [
        "",
        "| output | layers | per rank | built of |",
        "|---|---|---|---|",
        "| `layers.*.ba` |  | 6 x 1 | b, a by heads |",
        "",
    ]


def test_data() -> None:
    [rank] = as_json(COMPILED, [RANK], "*w")["ranks"]  # type: ignore[misc]
    assert rank["outputs"] == [
        {
            "name": "experts.w",
            "load_dtype": "BF16",
            "local_shape": [2, 4],
            "stacked": True,
            "tensors": ["experts.2.up"],
            "local_bytes": 16,
            "padding_bytes": 8,
        }
    ]
