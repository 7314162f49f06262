"""The cases of `cases.json`: what each one has, and what it is asked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shardc.diagnostics import Diagnostic
from shardc.diagnostics.render import render
from shardc.plan.bound import bind
from shardc.plan.compile import compile_plan
from shardc.plan.evidence import Evidence, Header
from shardc.rules import claims, coverage, double_entry, unused
from shardc.rules.meshes import mesh_findings
from tests.support import resolved

HERE = Path(__file__).parent


@dataclass(frozen=True)
class SavedFile:
    """A file of a case: the tensors in it, the bytes that its header is padded to, and bytes after its last tensor."""

    tensors: tuple[str, ...]
    header_bytes: int = 0
    trailing_bytes: int = 0


@dataclass(frozen=True)
class Case:
    """One fault that people hit, in small numbers. `source` is the public thread, `mesh` gives (rank, size).

    `tensors` are the file's; a case that is refused by its config alone may leave some out. A case about files says
    which `files` there are, and what its `index` says.
    """

    id: str
    kind: str
    source: str
    spec: Path
    config: Mapping[str, Any]
    tensors: Mapping[str, Header]
    mesh: Mapping[str, tuple[int, int]]
    expect: Mapping[str, Any]
    files: Mapping[str, SavedFile]
    index: Mapping[str, str] | None

    @property
    def sizes(self) -> dict[str, int]:
        return {name: size for name, (_, size) in self.mesh.items()}

    @property
    def headers(self) -> Mapping[str, Header] | None:
        """The file's headers, where the case is about the file; None where it is about the config alone."""
        return None if self.expect.get("phase") == "compile" else self.tensors


def read_cases() -> list[Case]:
    """All cases, in the order of the file."""
    return [_case(**fields) for fields in json.loads((HERE / "cases.json").read_text())]


def check_case(
    spec: Path, config: Mapping[str, Any], headers: Mapping[str, Header] | None, mesh: Mapping[str, int]
) -> list[Diagnostic]:
    """Everything shardc has to say of a spec, a checkpoint and a mesh."""
    read = resolved(spec.read_text(), str(spec))
    bound = bind(read, Evidence("config.json", config, headers))
    if bound.findings:
        return bound.findings
    findings = [*double_entry.check(read), *unused.check(read), *claims.check(bound)]
    if headers is not None:
        findings += coverage.check(bound, headers).findings
    return findings + mesh_findings(bound, [(mesh, compile_plan(bound, mesh))])


def check(case: Case) -> list[Diagnostic]:
    """What shardc says of a case."""
    return check_case(case.spec, case.config, case.headers, case.sizes)


def valid_tp(case: Case) -> list[int]:
    """The sizes of tp up to 32 that compile."""
    bound = bind(resolved(case.spec.read_text()), Evidence("config.json", case.config, case.headers))
    return [tp for tp in range(1, 33) if compile_plan(bound, {**case.sizes, "tp": tp}).ok]


def words(findings: list[Diagnostic]) -> str:
    """The findings as a reader sees them."""
    return render(findings, "full")


def _case(
    id: str,
    kind: str,
    source: str,
    spec: str,
    config: dict[str, Any],
    tensors: list[dict[str, Any]],
    mesh: dict[str, list[int]],
    expect: dict[str, Any],
    files: dict[str, dict[str, Any]] | None = None,
    index: dict[str, str] | None = None,
) -> Case:
    headers = {tensor["name"]: (tensor["dtype"], tuple(tensor["shape"])) for tensor in tensors}
    ranks = {name: (rank, size) for name, (rank, size) in mesh.items()}
    saved = {name: SavedFile(**{**file, "tensors": tuple(file["tensors"])}) for name, file in (files or {}).items()}
    return Case(id, kind, source, HERE / "specs" / f"{spec}.yaml", config, headers, ranks, expect, saved, index)
