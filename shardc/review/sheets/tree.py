"""The folders of plan sheets: `plans`, beside the specs, with a sheet for each checkpoint that one of them targets."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from shardc.diagnostics import Diagnostic, Label
from shardc.emit.tree import Tree
from shardc.review.sheets.sheet import MARK, sheet
from shardc.rules.check import Checked, Claim


def folder_of(checked: Checked) -> Path:
    """Where the sheets of a spec are."""
    return Path(checked.document.file).parent / "plans"


def sheet_trees(checked: Iterable[Checked]) -> dict[Path, Tree]:
    """The sheets of specs that are free of errors, by folder; none for a spec without targets."""
    files: dict[Path, dict[str, str]] = {}
    sources: dict[Path, dict[str, str]] = {}
    for one in checked:
        folder = folder_of(one)
        here, of = files.setdefault(folder, {}), sources.setdefault(folder, {})
        for name, claims in _by_checkpoint(one).items():
            here[f"{name}.txt"] = sheet(claims)
            of[f"{name}.txt"] = one.document.file
    return {folder: Tree(files[folder], sources[folder], MARK, f"{folder.as_posix()}/") for folder in files}


def same_checkpoint(checked: Iterable[Checked]) -> list[Diagnostic]:
    """SHD105 for each two specs of a folder that would write one sheet."""
    seen: dict[tuple[Path, str], Checked] = {}
    out = []
    for one in checked:
        folder = folder_of(one)
        for i, target in enumerate(one.resolved.spec.targets if one.resolved else []):
            first = seen.setdefault((folder, target.checkpoint), one)
            if first is not one:
                label = Label(one.document.value("targets", i, "checkpoint"))
                message = f"the checkpoint `{target.checkpoint}` is a target of {first.document.file} as well"
                path = (folder / f"{target.checkpoint}.txt").as_posix()
                help = f"both would write {path}: take it out of one, or record a copy of the table under another name"
                out.append(Diagnostic("SHD105", message, label, help=help))
    return out


def _by_checkpoint(checked: Checked) -> dict[str, list[Claim]]:
    out: dict[str, list[Claim]] = {}
    for claim in checked.claims:
        out.setdefault(claim.target.checkpoint, []).append(claim)
    return out
