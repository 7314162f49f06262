"""Checkpoints that no spec can cut, whatever their names and shapes: refused before anything is read of them."""

from __future__ import annotations

import re
from pathlib import Path

from shardc.runtime.errors import ShardError

RANK_FILE = re.compile(r"model-rank-(\d{1,6})-part-\d+\.safetensors")


def refuse_directory(directory: Path, tp: int) -> None:
    """Raises SHD412 for a directory of rank files without an index: parts that an earlier run cut and saved.

    tp: ranks that the load is for.
    """
    ranks = [int(found[1]) for path in directory.glob("*") if (found := RANK_FILE.fullmatch(path.name))]
    if ranks and not any(directory.glob("*.safetensors.index.json")):
        text = (
            f"{directory} is cut for {max(ranks) + 1} ranks already (model-rank-{max(ranks)}-part-…), and tp={tp} is "
            "asked: point at the original checkpoint, or reshard, merging the ranks' files into whole tensors first"
        )
        raise ShardError(("SHD412", text))
