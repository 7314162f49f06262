"""What `shardc verify` says of many checkpoints: a table, then the findings; or one JSON object."""

from __future__ import annotations

import json
from collections.abc import Sequence

import click
from msgspec.structs import replace

from shardc.cli.output import FOR_PEOPLE, drawn, report
from shardc.cli.verified import Verified
from shardc.diagnostics import Diagnostic
from shardc.diagnostics.findings import counts
from shardc.diagnostics.wording import plural
from shardc.plan.as_text import size, table

_HEADINGS = ("spec", "checkpoint", "tensors", "bytes", "valid tp", "findings")


def report_many(verified: Sequence[Verified], format_: str) -> int:
    """Print the table and the findings of all; 1 if one of them is an error. Of several, each names its checkpoint."""
    several = len(verified) > 1
    findings = [_owned(finding, one) if several else finding for one in verified for finding in one.findings]
    if format_ == "json":
        report_ = {**json.loads(drawn(findings, "json")), "checkpoints": [_as_json(one) for one in verified]}
        click.echo(json.dumps(report_, indent=2))
        return 1 if counts(findings).errors else 0
    if format_ in FOR_PEOPLE:
        chosen = [f"{one.path}: {one.chosen}" for one in verified if one.chosen]
        rows = table([_HEADINGS, *map(_cells, verified)], right={2, 3})
        click.echo("\n".join([*rows, *(["", *chosen] if chosen else []), ""]))
    return report(findings, format_, _summary(verified))


def _owned(finding: Diagnostic, one: Verified) -> Diagnostic:
    """The finding with its checkpoint in front; those about files begin with it already."""
    return finding if one.path in finding.message else replace(finding, message=f"{one.path}: {finding.message}")


def _cells(one: Verified) -> tuple[str, ...]:
    return (
        one.spec or "-",
        one.path,
        "-" if one.tensors is None else f"{one.tensors:,}",
        "-" if one.bytes is None else size(one.bytes),
        "-" if one.valid_tp is None else _runs(one.valid_tp) or "none",
        _counted(one),
    )


def _counted(one: Verified) -> str:
    words = zip(one.counts, ("error", "warning", "hint"), strict=True)
    return ", ".join(plural(count, word) for count, word in words if count) or "clean"


def _runs(sizes: tuple[int, ...]) -> str:
    """`1, 2, 4, 8`; three or more in a row are `1..64`."""
    runs: list[list[int]] = []
    for size_ in sizes:
        if runs and size_ == runs[-1][-1] + 1:
            runs[-1].append(size_)
        else:
            runs.append([size_])
    return ", ".join(f"{run[0]}..{run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs)


def _summary(verified: Sequence[Verified]) -> str:
    faulty = sum(1 for one in verified if one.counts.errors)
    head = f"{faulty} of {plural(len(verified), 'checkpoint')} with errors" if faulty else "no errors"
    tensors = sum(one.tensors or 0 for one in verified)
    return f"{head}; {plural(len(verified), 'checkpoint')}, {tensors:,} tensors"


def _as_json(one: Verified) -> dict[str, object]:
    return {
        "checkpoint": one.path,
        "spec": one.spec,
        "chosen": one.chosen,
        "tensors": one.tensors,
        "bytes": one.bytes,
        "claimed": one.claimed,
        "ignored": one.ignored,
        "valid_tp": None if one.valid_tp is None else list(one.valid_tp),
        **dict(zip(("errors", "warnings", "hints"), one.counts, strict=True)),
    }
