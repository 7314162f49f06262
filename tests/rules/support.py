"""A recorded checkpoint and its spec, with faults put into the table."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from shardc.diagnostics import Diagnostic
from shardc.plan.bound import bind
from shardc.plan.evidence import Evidence, Header
from shardc.plan.resolved import Resolved
from shardc.rules import coverage
from tests.support import ROOT, checkpoint, resolved

SPECS = {"llama-3.1-8b": "llama", "glm-5.3-flash-nvfp4": "glm5_next"}


def recorded(name: str) -> tuple[Mapping[str, Any], Mapping[str, Header]]:
    """Config and headers."""
    one = checkpoint(name)
    return one.config.data, one.headers


@cache
def spec_of(name: str) -> Resolved:
    path = ROOT / "specs" / f"{SPECS[name]}.yaml"
    return resolved(path.read_text(), str(path.relative_to(ROOT)))


def findings(
    name: str, headers: Mapping[str, Header] | None = None, config: Mapping[str, Any] | None = None
) -> list[Diagnostic]:
    """What coverage says of a recorded checkpoint, or of what was made of it."""
    own_config, own_headers = recorded(name)
    return findings_of(spec_of(name), config or own_config, own_headers if headers is None else headers)


def findings_of(spec: Resolved, config: Mapping[str, Any], headers: Mapping[str, Header]) -> list[Diagnostic]:
    """What coverage says of a config and headers."""
    bound = bind(spec, Evidence("config.json", config, headers))
    return bound.findings + coverage.check(bound, headers).findings
