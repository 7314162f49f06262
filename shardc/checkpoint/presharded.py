"""Directories of what the ranks of an earlier run saved: each file one rank's part, not whole tensors."""

from __future__ import annotations

import re
from pathlib import Path

from shardc.checkpoint.file_findings import broken_file
from shardc.diagnostics import Diagnostic

_RANK_FILE = re.compile(r"model-rank-(?P<rank>[0-9]{1,6})-part-[0-9]+\.safetensors")
_INDEX_SUFFIX = ".safetensors.index.json"


def already_cut(directory: Path, tp: int | None) -> Diagnostic | None:
    """SHD412 where the files are those of ranks, `model-rank-3-part-0.safetensors`, and no index says otherwise.

    `tp` is the size that is asked, if one is. Raises OSError if the directory can't be listed.
    """
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
