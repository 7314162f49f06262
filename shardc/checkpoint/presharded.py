"""Directories of ranks' parts, not of whole tensors: what `shardc shard` wrote, or the ranks of an engine saved."""

from __future__ import annotations

import re
from pathlib import Path

from shardc.checkpoint.file_findings import broken_file, shown
from shardc.checkpoint.json_text import read_json
from shardc.diagnostics import Diagnostic

_RANK_FILE = re.compile(r"model-rank-(?P<rank>[0-9]{1,6})-part-[0-9]+\.safetensors")
_INDEX_SUFFIX = ".safetensors.index.json"
_MANIFEST = "shardc.json"


def already_cut(directory: Path, tp: int | None) -> Diagnostic | None:
    """SHD412 where the files are those of ranks, `model-rank-3-part-0.safetensors`, and no index says otherwise.

    A directory that `shardc shard` wrote says so itself, in shardc.json; a manifest that can't be read is SHD406.
    `tp` is the size that is asked, if one is. Raises OSError if the directory can't be listed.
    """
    if (directory / _MANIFEST).is_file():
        return _cut_by_shardc(directory, tp)
    present = [entry.name for entry in directory.iterdir() if entry.is_file()]
    ranks = {int(found["rank"]): name for name in sorted(present) if (found := _RANK_FILE.fullmatch(name))}
    if not ranks or any(name.endswith(_INDEX_SUFFIX) for name in present):
        return None
    count = max(ranks) + 1
    first, last = ranks[min(ranks)], ranks[max(ranks)]
    return broken_file(
        directory,
        f"is cut for {count} ranks already" + (f", and tp={tp} is asked" if tp else ""),
        code="SHD412",
        expected="whole tensors, in *.safetensors files that are no rank's",
        found=f"{first} to {last}, of {count} ranks",
        help=f"point at the original checkpoint, or reshard: merge the {count} ranks' files into whole tensors first",
    )


def _cut_by_shardc(directory: Path, tp: int | None) -> Diagnostic:
    manifest = read_json(directory / _MANIFEST)
    if isinstance(manifest, Diagnostic):
        return manifest
    mesh = manifest.data.get("mesh")
    sizes = mesh if isinstance(mesh, dict) else {}
    cut_for = ", ".join(f"{shown(name)[1:-1]}={shown(size)}" for name, size in sizes.items()) or "some mesh"
    return broken_file(
        directory,
        f"is cut for {cut_for} already" + (f", and tp={tp} is asked" if tp else ""),
        code="SHD412",
        expected="whole tensors, in *.safetensors files that are no rank's",
        found=f"{_MANIFEST}, as `shardc shard` writes it",
        help=f"point at the original checkpoint, or put it together again: `shardc merge {directory} -o OUT`",
    )
