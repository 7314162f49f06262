from __future__ import annotations

from shardc.diagnostics import Label, Span
from shardc.diagnostics.render import render
from shardc.review.compare.specs import spec_change
from shardc.review.diff import Diff
from shardc.review.shown.findings import as_findings
from tests.review.support import SPEC, change, edited, version

SWAPPED = edited(("[heads * 4, hidden], shard: channel_rows", "[4 * heads, hidden], shard: column_parallel"))
COMMENTED = SPEC + "# a remark\n"


def test_an_annotation_stands_at_the_tensor() -> None:
    findings = as_findings(Diff("main", (change(SPEC, SWAPPED),)), ())
    assert render(findings, "concise") == (
        "tiny.yaml:12:7: warning[SHD601] tiny: tp=2, 4, 8 lay bytes out differently; tp=1 byte-identical"
    )
    assert render(findings, "github") == (
        "::warning title=shardc (SHD601),file=tiny.yaml,line=12,col=7,endLine=12,endColumn=20::"
        "tiny: tp=2, 4, 8 lay bytes out differently; tp=1 byte-identical%0A"
        "help: cut again what was cut with the old spec, and drop caches of it"
    )


def test_a_class_that_must_not_be_is_an_error() -> None:
    (finding,) = as_findings(Diff("main", (change(SPEC, SWAPPED),)), {"layout"})
    assert finding.severity == "error"
    (finding,) = as_findings(Diff("main", (change(SPEC, SWAPPED),)), {"narrows"})
    assert finding.severity == "warning"


def test_what_breaks_nothing_is_a_hint() -> None:
    (finding,) = as_findings(Diff("main", (change(SPEC, COMMENTED),)), ())
    assert (finding.code, finding.severity) == ("SHD606", "hint")
    assert finding.label is not None and (finding.label.span.file, finding.label.span.line) == ("tiny.yaml", 1)


def test_one_finding_for_each_class() -> None:
    line = "      o_proj.weight: {shape: [hidden, heads * 4], shard: channel_cols}\n"
    text = edited((line, ""), text=SWAPPED)
    assert [one.code for one in as_findings(Diff("main", (change(SPEC, text),)), ())] == ["SHD601", "SHD604"]


def test_a_spec_that_is_gone_is_annotated_where_it_stood() -> None:
    gone = spec_change("tiny", version(SPEC, file="main:specs/tiny.yaml"), None)
    (finding,) = as_findings(Diff("main", (gone,)), ())
    assert (finding.code, finding.label) == ("SHD603", Label(Span("specs/tiny.yaml", 1, 1, 1, 1)))
