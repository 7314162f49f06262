"""The folders of plan sheets: `plans`, beside the specs, with a sheet for each checkpoint that one of them targets."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from shardc.emit.tree import Tree
from shardc.review.sheets.sheet import MARK, sheet
from shardc.rules.check import Checked, Claim
from shardc.source import load


def folder_of(checked: Checked) -> Path:
    """Where the sheets of a spec are."""
    return Path(checked.document.file).parent / "plans"


def sheet_trees(checked: Iterable[Checked]) -> dict[Path, Tree]:
    """The sheets of specs that are free of errors, by folder; none for a spec without targets.

    `<checkpoint>.txt`; where several specs of a folder target one checkpoint, each has `<checkpoint>.<spec>.txt`.
    """
    files: dict[Path, dict[str, str]] = {}
    sources: dict[Path, dict[str, str]] = {}
    for one in checked:
        folder = folder_of(one)
        here, of = files.setdefault(folder, {}), sources.setdefault(folder, {})
        several = _claimed_beside(one)
        for checkpoint, claims in _by_checkpoint(one).items():
            name = f"{checkpoint}.{claims[0].bound.resolved.spec.name}" if checkpoint in several else checkpoint
            here[f"{name}.txt"] = sheet(claims)
            of[f"{name}.txt"] = one.document.file
    return {folder: Tree(files[folder], sources[folder], MARK, f"{folder.as_posix()}/") for folder in files}


def _claimed_beside(checked: Checked) -> set[str]:
    """Those of a spec's checkpoints that another spec of its folder targets as well."""
    own = Path(checked.document.file)
    wanted = {claim.target.checkpoint for claim in checked.claims}
    out: set[str] = set()
    for file in sorted(own.parent.glob("*.yaml")):
        if file.name != own.name and file.is_file():
            text = file.read_bytes()
            if any(name.encode() in text for name in wanted - out):
                out |= wanted & _targets(file)
    return out


def _targets(file: Path) -> set[object]:
    """What a spec file, sound or not, says that it targets."""
    document, _ = load(file)
    data = document.data if document is not None else None
    targets = data.get("targets") if isinstance(data, dict) else None
    named = [one.get("checkpoint") for one in targets if isinstance(one, dict)] if isinstance(targets, list) else []
    return {name for name in named if isinstance(name, str)}


def _by_checkpoint(checked: Checked) -> dict[str, list[Claim]]:
    out: dict[str, list[Claim]] = {}
    for claim in checked.claims:
        out.setdefault(claim.target.checkpoint, []).append(claim)
    return out
