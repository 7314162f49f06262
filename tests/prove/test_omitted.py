"""A collective that the plan omits shows: each of them left out, the ranks do not compute what the whole model does."""

from __future__ import annotations

from pathlib import Path

import pytest

from shardc.prove.proof import computed, done, planned
from shardc.prove.subject import made_up
from tests.prove.support import CONFIGS, quiet, spec_of

NAMES = [path.stem for path in CONFIGS]


@pytest.mark.full
@pytest.mark.parametrize("config", CONFIGS, ids=NAMES)
def test_without_one_of_them_the_numbers_differ(config: Path, tmp_path: Path) -> None:
    spec = spec_of(config)
    subject = made_up(config, spec, tmp_path)
    plan, findings = planned(subject, spec, {dim: 2 for dim in ("tp", "ep") if dim in spec.mesh_dims})
    assert plan is not None and not findings
    listed = done(plan)
    assert listed
    unseen = [
        one
        for one in listed
        if not computed(subject, plan, quiet, collectives=tuple(other for other in listed if other != one)).findings
    ]
    assert unseen == []
