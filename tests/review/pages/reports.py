"""What tests of reports need: recorded checkpoints bound to their specs, and reports of them as files."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from shardc.cli.specs import evidence_of, resolve_file
from shardc.plan.bound import Bound, bind
from shardc.plan.compile import compile_plan
from shardc.plan.plan import Plan
from shardc.review.pages.report import report_html
from shardc.review.pages.report_data import report_data
from shardc.review.pages.shown_meshes import shown_meshes
from tests.support import ROOT, checkpoint


@cache
def recorded(spec: str, name: str) -> Bound:
    """A spec of the repository, bound to a recorded checkpoint without findings."""
    resolved, findings = resolve_file(ROOT / "specs" / f"{spec}.yaml")
    assert resolved is not None, findings
    bound = bind(resolved, evidence_of(checkpoint(name), name))
    assert not bound.findings
    return bound


def plan_of(spec: str, name: str, **mesh: int) -> Plan:
    """Its plan on a mesh, one rank on mesh dims that are not given."""
    bound = recorded(spec, name)
    compiled = compile_plan(bound, {dim: mesh.get(dim, 1) for dim in bound.resolved.mesh_dims})
    assert compiled.ok and compiled.plan is not None
    return compiled.plan


@cache
def data_of(spec: str, name: str) -> dict[str, Any]:
    """The report's data of a recorded checkpoint, on all meshes that its target claims."""
    bound = recorded(spec, name)
    target = next(one for one in bound.resolved.spec.targets if one.checkpoint == name)
    shown = shown_meshes(bound, target, None)
    data = report_data(name, shown.compiled, shown.first, target.sizes)
    found: dict[str, Any] = json.loads(json.dumps(data))
    return found


def page_of(spec: str, name: str) -> str:
    """The report of a recorded checkpoint on all meshes that its target claims."""
    bound = recorded(spec, name)
    target = next(one for one in bound.resolved.spec.targets if one.checkpoint == name)
    shown = shown_meshes(bound, target, None)
    return report_html(name, shown.compiled, shown.first, target.sizes)


def page_in(folder: Path, spec: str, name: str) -> Path:
    """The same as a file."""
    path = folder / f"{spec}.html"
    path.write_text(page_of(spec, name), encoding="utf-8")
    return path


def row_named(data: Mapping[str, Any], name: str) -> int:
    """The number of the one row of that name."""
    (at,) = [i for i, row in enumerate(data["rows"]) if row["t"] == name]
    return at


def mesh_named(data: Mapping[str, Any], name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(mesh for mesh in data["meshes"] if mesh["name"] == name)
    return found


def cuts_of(data: Mapping[str, Any], mesh: str, tensor: str) -> list[dict[str, Any]]:
    """The cut of each dim of a row's tensors on a mesh."""
    return [data["cuts"][i] for i in mesh_named(data, mesh)["rows"][row_named(data, tensor)][:-1]]


def embedded(page: str) -> Any:
    """The data inside a page's text."""
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def address(path: Path) -> str:
    return path.resolve().as_uri()
