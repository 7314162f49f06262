"""What many tests need: a spec from text, its plan, and its generated module, imported from a folder of its own."""

from __future__ import annotations

import importlib
import itertools
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from shardc.checkpoint import Checkpoint, read_checkpoint
from shardc.diagnostics import Diagnostic
from shardc.emit.bundle import bundle
from shardc.emit.module import module
from shardc.plan.bound import Bound, bind
from shardc.plan.compile import Compiled, compile_plan
from shardc.plan.evidence import Evidence, Header
from shardc.plan.plan import Plan
from shardc.plan.resolve import resolve
from shardc.plan.resolved import Resolved
from shardc.source import loads
from shardc.spec.read import read_spec

ROOT = Path(__file__).parent.parent
#: Codes that `shardc check` does not give: files of a checkpoint, the generated tree, and bugs of shardc.
NOT_OF_CHECK = {
    "SHD406",
    "SHD407",
    "SHD409",
    "SHD410",
    "SHD412",
    "SHD413",
    "SHD415",
    "SHD416",
    "SHD417",
    "SHD418",
    "SHD419",
    "SHD430",
    "SHD501",
    "SHD502",
    "SHD503",
    "SHD504",
    "SHD601",
    "SHD602",
    "SHD603",
    "SHD604",
    "SHD605",
    "SHD606",
    "SHD607",
    "SHD701",
    "SHD702",
    "SHD901",
}
_fresh = itertools.count()


def resolved(text: str, file: str = "spec.yaml") -> Resolved:
    """The spec, which must be free of findings."""
    result, findings = try_resolve(text, file)
    assert result is not None and not findings, [f.message for f in findings]
    return result


def try_resolve(text: str, file: str = "spec.yaml") -> tuple[Resolved | None, list[Diagnostic]]:
    document, findings = loads(text, file)
    if document is None:
        return None, findings
    spec, findings = read_spec(document)
    if spec is None:
        return None, findings
    return resolve(spec, document)


@cache
def checkpoint(name: str) -> Checkpoint:
    """A recorded checkpoint, which must be free of findings."""
    found, findings = read_checkpoint(ROOT / "specs" / "checkpoints" / f"{name}.json")
    assert found is not None and not findings, findings
    return found


def bound(text: str, config: Mapping[str, Any], headers: Mapping[str, Header] | None = None) -> Bound:
    return bind(resolved(text), Evidence("config.json", config, headers))


def compiled(
    text: str, config: Mapping[str, Any], mesh: Mapping[str, int], headers: Mapping[str, Header] | None = None
) -> Compiled:
    return compile_plan(bound(text, config, headers), mesh)


def plan(
    text: str, config: Mapping[str, Any], mesh: Mapping[str, int], headers: Mapping[str, Header] | None = None
) -> Plan:
    """The plan, which must be free of faults."""
    result = compiled(text, config, mesh, headers)
    assert result.ok and result.plan is not None, result
    return result.plan


def rows(plan: Plan, rank: Mapping[str, int]) -> dict[str, tuple[tuple[int, ...], tuple[Any, ...], str, str]]:
    """What a rank keeps, by name: (full shape as stored, regions of each dim, dtype in the file, dtype loaded)."""
    return {
        name: (shard.shape, shard.at, shard.part.dtype, shard.part.load)
        for shard in plan.shards(rank)
        for name in shard.names
    }


def generated(spec: Resolved, folder: Path) -> ModuleType:
    """The spec's generated module, written to `folder` and imported as a package of a fresh name."""
    package = f"generated_for_test_{next(_fresh)}"
    home = folder / package
    home.mkdir()
    (home / "__init__.py").write_text("")
    (home / "_runtime.py").write_text(bundle())
    (home / f"{spec.spec.name}.py").write_text(module(spec))
    sys.path.insert(0, str(folder))
    try:
        return importlib.import_module(f"{package}.{spec.spec.name}")
    finally:
        sys.path.remove(str(folder))


def generated_rows(module: ModuleType, config: Mapping[str, Any], mesh: Mapping[str, tuple[int, int]],
                   headers: Mapping[str, Any] | None = None) -> dict[str, tuple[Any, ...]]:  # fmt: skip
    """The same as `rows`, from a generated module; `mesh` gives (rank, size)."""
    shards = module.plan(config, mesh, headers)
    return {s.name: (s.shape, s.at, s.dtype, s.local_dtype) for s in shards}
