"""A spec against a checkpoint's headers, both ways.

Every tensor of the file is claimed by exactly one entry or ignored with a reason; every required one is found. What
differs is explained step by step, the causes of many differences first, so that one cause is one finding.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from fnmatch import translate
from itertools import filterfalse

from msgspec import Struct, field
from msgspec.structs import replace

from shardc.diagnostics import Diagnostic
from shardc.plan.bound import Bound
from shardc.plan.compile import compile_plan
from shardc.plan.evidence import Header
from shardc.rules import headers as compared
from shardc.rules.bitsandbytes import packed_by_bitsandbytes
from shardc.rules.differences import Differences, Missing
from shardc.rules.formats import explain_formats
from shardc.rules.inserted import explain_inserted
from shardc.rules.meshes import mesh_findings
from shardc.rules.missing import explain_layers, explain_missing
from shardc.rules.renamed import explain_prefix, explain_renames
from shardc.rules.tied import tied_but_present
from shardc.rules.unexpected import explain_unexpected


class Coverage(Struct):
    """What was compared: tensors claimed and ignored, and what differs."""

    claimed: int = 0
    ignored: int = 0
    findings: list[Diagnostic] = field(default_factory=list)


def check(bound: Bound, headers: Mapping[str, Header]) -> Coverage:
    """Compare every tensor that the spec expects with the file, and every tensor of the file with the spec."""
    packed = packed_by_bitsandbytes(bound, headers)
    if packed is not None:
        return Coverage(findings=[packed])
    whole = dict.fromkeys(bound.resolved.mesh_dims, 1)
    compiled = compile_plan(bound, whole)
    faults = mesh_findings(bound, [(whole, replace(compiled, contracts=[]))])
    plan = compiled.plan
    if plan is None:
        return Coverage(findings=faults)
    parts = [(family, part) for family in plan.families for part in family.stored.parts]
    others = _not_claimed(bound, headers)
    ignored = _ignored(bound)
    unexpected = [name for name in others if not ignored(name)]
    missing = [
        Missing(family, part, absent)
        for family, part in parts
        if part.header is None and (absent := [name for name in part.names if name not in headers])
    ]
    differences = Differences(bound, headers, missing, unexpected)
    explained = explain_formats(differences)
    explain_prefix(differences, ignored)
    explain_inserted(differences)
    explain_renames(differences)
    explain_layers(differences)
    explain_missing(differences)
    explain_unexpected(differences)
    findings = faults + differences.findings
    for family, part in parts:
        findings += compared.compare(plan, family, part, headers, explained)
    findings += tied_but_present(bound, headers)
    return Coverage(len(headers) - len(others), len(others) - len(unexpected), findings)


def _not_claimed(bound: Bound, headers: Mapping[str, Header]) -> list[str]:
    """Names of the file that no entry of the spec stands for."""
    if bound.matched is not None and bound.evidence.grids is not None:
        return [name for grid in bound.evidence.grids.headers if grid not in bound.matched for name in grid.names()]
    parts = (part for family in bound.families for part in family.stored.parts)
    claimed: set[str] = set().union(*(part.names for part in parts))
    return list(filterfalse(claimed.__contains__, headers))


def _ignored(bound: Bound) -> Callable[[str], bool]:
    """Whether the spec ignores a name."""
    globs = [ignore.name for ignore in bound.resolved.spec.ignore]
    matches = re.compile("|".join(map(translate, globs))).match if globs else None
    return lambda name: matches is not None and matches(name) is not None
