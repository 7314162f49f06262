"""Writing the manifests that the runtime reads."""

from __future__ import annotations

import json
from pathlib import Path

from shardc.runtime.errors import ShardError
from shardc.runtime.manifests import (
    MANIFEST_FORMAT,
    SET_MANIFEST,
    Cut,
    RankLayout,
    RankManifest,
    SetManifest,
    mesh_words,
    read_set,
)
from shardc.store.writer import write_text


def cut_fields(cut: Cut) -> dict[str, object]:
    """What every manifest begins with."""
    return {
        "format": MANIFEST_FORMAT,
        "spec": cut.spec,
        "digest": cut.digest,
        "mesh": dict(cut.mesh),
        "source": cut.source,
    }


def set_text(known: SetManifest) -> str:
    """The manifest of a set."""
    return json.dumps({**cut_fields(known.cut), "files": known.files, "index": known.index_file}) + "\n"


def rank_text(rank: RankManifest) -> str:
    """The manifest of a rank; tensors that are alike share a layout."""
    numbers: dict[RankLayout, int] = {}
    tensors = {name: numbers.setdefault(layout, len(numbers)) for name, layout in rank.layouts.items()}
    fields = {
        "files": rank.files,
        "originals": {name: data.hex() for name, data in rank.originals.items()},
        "layouts": list(numbers),
        "tensors": tensors,
    }
    return json.dumps({**cut_fields(rank.cut), **fields}) + "\n"


def write_set(out: Path, known: SetManifest) -> None:
    """The manifest of a set, unless it is there; many processes may write it at once, all the same.

    Raises SHD416 where the directory has another set, or something else.
    """
    path = out / SET_MANIFEST
    if path.is_file():
        found = read_set(out)
        if found != known:
            text = f"{out} has {words(found.cut)} already, and this is {words(known.cut)}: choose another directory"
            raise ShardError(("SHD416", text if found.cut != known.cut else f"{out} was begun with other options"))
        return
    others = sorted(entry.name for entry in out.iterdir() if entry.name.endswith(".safetensors"))
    if others:
        raise ShardError(("SHD416", f"{out} has {others[0]}, which is none of ours: choose another directory"))
    write_text(path, set_text(known))


def words(cut: Cut) -> str:
    """A cut in one line."""
    return f"{cut.spec} {cut.digest} for {mesh_words(cut.mesh)} of {cut.source}"
