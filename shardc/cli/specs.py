"""Finding spec files and recorded checkpoints, and checking them: what several commands begin with."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import click

from shardc.checkpoint import TABLE_SUFFIXES, Checkpoint, read_checkpoint
from shardc.diagnostics import Diagnostic
from shardc.plan.evidence import Evidence
from shardc.plan.resolve import resolve
from shardc.plan.resolved import Resolved
from shardc.rules import double_entry, stages
from shardc.rules.check import Checked, check_spec
from shardc.source import Document, load
from shardc.spec.model import Spec
from shardc.spec.read import read_spec

DEFAULT_SPECS = Path("specs")


def spec_files(paths: tuple[Path, ...]) -> list[Path]:
    """The YAML files at `paths` (files, or folders searched to the bottom); of specs/ where none is given."""
    files: list[Path] = []
    for path in paths or (DEFAULT_SPECS,):
        if path.is_dir():
            files += sorted(path.rglob("*.yaml"))
        elif path.exists():
            files.append(path)
        else:
            raise click.UsageError(f"{path} does not exist")
    if not files:
        raise click.UsageError(f"no *.yaml in {', '.join(map(str, paths or (DEFAULT_SPECS,)))}")
    return list(dict.fromkeys(files))


def check_file(path: Path) -> tuple[Checked | None, list[Diagnostic]]:
    """One spec file, checked with the checkpoints recorded beside it; None where its text is not YAML."""
    document, findings = load(path)
    if document is None:
        return None, findings
    checked = check_spec(document, recorded(path.parent / "checkpoints"))
    return checked, checked.findings


def recorded(folder: Path) -> Callable[[str], tuple[Evidence | None, list[Diagnostic]]]:
    """Looks checkpoints up in `<folder>/<name>.json` or `.json.gz`."""

    def find(name: str) -> tuple[Evidence | None, list[Diagnostic]]:
        for suffix in TABLE_SUFFIXES:
            path = folder / f"{name}{suffix}"
            if path.exists():
                checkpoint, findings = _read(path)
                return (evidence_of(checkpoint, f"target {name}") if checkpoint else None), findings
        return None, []

    return find


def evidence_of(checkpoint: Checkpoint, name: str) -> Evidence:
    headers = checkpoint.headers if len(checkpoint.headers) else None
    return Evidence(name, checkpoint.config.data, headers, checkpoint.config.source, checkpoint.grids)


@cache
def _read(path: Path) -> tuple[Checkpoint | None, list[Diagnostic]]:
    return read_checkpoint(path)


def resolve_file(path: Path) -> tuple[Resolved | None, list[Diagnostic]]:
    """One spec file, read, resolved and its kinds compared with its shapes; None where there are errors."""
    document, findings = load(path)
    if document is None:
        return None, findings
    spec, findings = read_spec(document)
    if spec is None:
        return None, findings
    return resolve_spec(spec, document)


def resolve_spec(spec: Spec, document: Document) -> tuple[Resolved | None, list[Diagnostic]]:
    """The same for a spec that has been read."""
    resolved, findings = resolve(spec, document)
    if not findings:
        said = (*double_entry.check(resolved), *stages.check(resolved))
        findings = [finding for finding in said if finding.severity == "error"]
    return (None if findings else resolved), findings
