"""The report of one spec on one checkpoint, as one HTML file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from shardc.plan.compile import Compiled
from shardc.review.pages.embed import page
from shardc.review.pages.report_data import report_data

#: Scripts that draw, for any page.
DRAWING = ("dom", "text", "cuts", "colour", "tip", "picture", "marks", "answers", "strip", "bars", "regions", "nav")
_SCRIPTS = (*DRAWING, "tensors", "axes", "sizes", "notes", "state", "report")
_WORDS = ("spec", "checkpoint", "about", "architectures", "symbols", "ignored", "absent")


def report_html(checkpoint: str, compiled: Sequence[Compiled], shown: int, claimed: Mapping[str, Sequence[int]]) -> str:
    """The page; see `report_data`. A pure function of the plans."""
    data = report_data(checkpoint, compiled, shown, claimed)
    words = {word: data[word] for word in _WORDS}
    drawn = {key: value for key, value in data.items() if key not in ("symbols", "ignored", "absent", "about")}
    return page("report.html", _SCRIPTS, ("base", "pictures", "report", "print"), drawn, words)
