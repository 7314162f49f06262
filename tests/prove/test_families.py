"""Every family that transformers can run: two ranks on their shards compute what the whole model does."""

from __future__ import annotations

from math import prod
from pathlib import Path

import pytest
import transformers
from safetensors import safe_open

from shardc.prove.proof import prove
from shardc.prove.small import read_small
from shardc.prove.subject import made_up
from tests.prove.support import CONFIGS, every_spec, quiet, spec_of


@pytest.mark.parametrize("config", CONFIGS, ids=[path.stem for path in CONFIGS])
def test_two_ranks(config: Path, tmp_path: Path) -> None:
    spec = spec_of(config)
    subject = made_up(config, spec, tmp_path)
    proof = prove(subject, spec, {"tp": 2}, quiet)
    assert [(finding.message, *finding.notes) for finding in proof.findings] == []
    assert proof.difference is not None and proof.difference.relative < 1e-5
    with safe_open(tmp_path / "model.safetensors", "pt") as file:
        full = {name: prod(file.get_slice(name).get_shape()) for name in file.keys()}  # noqa: SIM118
    for outcome in proof.outcomes:
        local = {name: prod(shape) for name, shape in outcome.shapes.items()}
        cut = [name for name in full if local.get(name, 0) < full[name]]
        assert sum(full[name] for name in cut) > 0.7 * sum(full.values()), "most of the model is cut"


def test_every_class_that_transformers_has_is_proved() -> None:
    named = {name for spec in every_spec() for name in spec.spec.architectures if hasattr(transformers, name)}
    proved = {read_small(path)["architectures"][0] for path in CONFIGS}
    assert named - proved == set()
