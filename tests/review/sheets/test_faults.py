"""Slips that somebody could make in a real spec: wherever one changes what a rank keeps, the sheet shows it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from scripts.planted import Fault, faults
from shardc.cli.specs import recorded
from shardc.plan.collectives import at_work
from shardc.plan.compile import compile_plan
from shardc.review.sheets.sheet import sheet
from shardc.rules.check import Checked, Claim, check_spec
from shardc.source import loads
from tests.support import ROOT, rows

PLANTED = [fault for fault in faults() if fault.spec]
#: Faults in parts of a spec that none of its recorded checkpoints has, or that leave every row where it was.
UNSEEN = {"pairs-cut-as-halves", "qkv-order", "head-named-as-an-embedding", "one-kv-head-cut"}


@cache
def checked(of: str, text: str) -> Checked:
    document, _ = loads(text, f"specs/{of}.yaml")
    assert document is not None
    return check_spec(document, recorded(Path(ROOT / "specs" / "checkpoints")))


def claims(fault: Fault) -> Iterator[tuple[Claim, Claim]]:
    """The claims of the spec as it is, each with the same one of the spec with the fault, where it can be read."""
    clean = (ROOT / "specs" / f"{fault.of}.yaml").read_text()
    text = clean
    for edit in fault.spec:
        text = edit.applied(text, fault.of)
    after = {claim.target.checkpoint: claim for claim in checked(fault.of, text).claims}
    for claim in checked(fault.of, clean).claims:
        if claim.target.checkpoint in after:
            yield claim, after[claim.target.checkpoint]


def kept(claim: Claim) -> list[object]:
    """What the ranks of tp=2 and tp=4 keep, and do together; None where a size does not work."""
    out: list[object] = []
    for tp in (2, 4):
        mesh = {**dict.fromkeys(claim.bound.resolved.mesh_dims, 1), "tp": tp}
        compiled = compile_plan(claim.bound, mesh)
        if not compiled.ok or compiled.plan is None:
            out.append(None)
            continue
        out += [at_work(compiled.plan), *(rows(compiled.plan, {"tp": rank}) for rank in range(tp))]
    return out


@pytest.mark.parametrize("fault", PLANTED, ids=lambda fault: fault.name)
def test_a_slip_shows_in_a_sheet(fault: Fault) -> None:
    """In that of at least one checkpoint, if the spec can still be bound to one at all."""
    both = list(claims(fault))
    differing = [sheet([before]) != sheet([after]) for before, after in both]
    assert any(differing) == (bool(both) and fault.name not in UNSEEN)
    for (before, after), differs in zip(both, differing, strict=True):
        assert differs or kept(before) == kept(after)
