"""Checkpoints that no spec can cut, whatever their names and shapes: refused before anything is read of them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from shardc.runtime.errors import ShardError
from shardc.runtime.headers import Header
from shardc.runtime.locations import Location

PACKED = ".quant_state.bitsandbytes__"
QUANT_STATE = re.compile(rf"(.+){re.escape(PACKED)}(?:nf4|fp4)")
RANK_FILE = re.compile(r"model-rank-(\d{1,6})-part-\d+\.safetensors")


def refuse_directory(directory: Location, tp: int) -> None:
    """Raises SHD414 for GGUF files, and SHD412 for rank files without an index: parts that an earlier run saved.

    tp: ranks that the load is for.
    """
    if directory.suffix == ".gguf" or (any(directory.glob("*.gguf")) and not any(directory.glob("*.safetensors"))):
        text = f"{directory} is GGUF, which is out of scope: convert it to safetensors, or get what it was made from"
        raise ShardError(("SHD414", text))
    ranks = [int(found[1]) for path in directory.glob("*") if (found := RANK_FILE.fullmatch(path.name))]
    if ranks and not any(directory.glob("*.safetensors.index.json")):
        text = (
            f"{directory} is cut for {max(ranks) + 1} ranks already (model-rank-{max(ranks)}-part-…), and tp={tp} is "
            "asked: point at the original checkpoint, or reshard, merging the ranks' files into whole tensors first"
        )
        raise ShardError(("SHD412", text))


def refuse_packed(headers: Mapping[str, Header]) -> None:
    """Raises SHD414, once, for a file with weights that bitsandbytes packed in 4 bits."""
    weights = [found[1] for name in headers if PACKED in name and (found := QUANT_STATE.fullmatch(name))]
    if weights:
        more = f" and {len(weights) - 1} more weights are" if len(weights) > 1 else " is"
        text = (
            f"{weights[0]}{more} packed by bitsandbytes in 4 bits, which is out of scope: cut the original checkpoint, "
            "and quantise each rank's part after loading"
        )
        raise ShardError(("SHD414", text))
