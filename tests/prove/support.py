"""Subjects of proofs: a small config, its spec, and a checkpoint in a folder of its own."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from shardc.cli.specs import resolve_file
from shardc.plan.resolved import Resolved
from shardc.prove.small import read_small
from shardc.prove.subject import Subject, made_up
from tests.support import ROOT

SMALL = ROOT / "specs" / "small"
CONFIGS = sorted(SMALL.glob("*.json"))


@cache
def every_spec() -> tuple[Resolved, ...]:
    """All of specs/."""
    found = [resolve_file(path) for path in sorted((ROOT / "specs").glob("*.yaml"))]
    return tuple(spec for spec, findings in found if spec is not None and not findings)


def spec_of(config: Path) -> Resolved:
    """The spec that names the config's architecture."""
    (architecture,) = read_small(config)["architectures"]
    (spec,) = [spec for spec in every_spec() if architecture in spec.spec.architectures]
    return spec


def subject(config: str, spec: Resolved, folder: Path) -> Subject:
    """The model of a small config, by its name."""
    return made_up(SMALL / f"{config}.json", spec, folder)


def quiet(text: str) -> None:
    """Progress that nobody reads."""
