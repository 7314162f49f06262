"""Reading the parts of one rank, or of several, out of a checkpoint."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any, NamedTuple, TypedDict, Unpack

import torch

from shardc.runtime.collector import collector_at_rest
from shardc.runtime.errors import ShardError
from shardc.runtime.jobs import Done
from shardc.runtime.limits import LOCAL, REMOTE, Limits
from shardc.runtime.locations import Location
from shardc.runtime.pieces import Piece, pieces_of
from shardc.runtime.planning import Mesh
from shardc.runtime.preparing import RankPart, cast_name, parts_of_ranks
from shardc.runtime.presharded import open_stock
from shardc.runtime.reader_threads import Windows
from shardc.runtime.reading import carrying_out
from shardc.runtime.refusals import refuse_packed
from shardc.runtime.remote import file_of, location_of
from shardc.runtime.rooms import Rooms, rooms_of, tensors_of, write_unread
from shardc.runtime.tensors import Spec
from shardc.runtime.windows import Window, windows_of

Progress = Callable[[int, int], object]  # (bytes done, bytes in all), local ones, of all ranks that are loaded
Device = torch.device | str


class Options(TypedDict, total=False):
    """How to load.

    dtype: what tensors of the spec's default dtype are cast to; those with a dtype of their own, and quantised parts,
    stay as they are. progress: called before the first byte is read, and as bytes are there. fused: an output stands in
    the place of its first tensor, and for all of them (the default); False: every tensor by itself. separate: each
    tensor in memory of its own, to be freed, and on a device to be saved, one by one; False (the default): all of a
    rank in one slab. threads: how many read; by default as many as there are cores, 4 at most, 8 where files are
    not in the page cache, and 16 from a store.
    storage_options: what fsspec needs to open the store of a URL. filesystem: an fsspec one, in which the checkpoint is
    a path.
    """

    dtype: torch.dtype | None
    progress: Progress | None
    fused: bool
    separate: bool
    threads: int | None
    storage_options: Mapping[str, Any] | None
    filesystem: Any


class Prepared(NamedTuple):
    """What is left to do: the windows to read, within these limits.

    Of each rank there are its rooms, and what its tied tensors are tied to.
    """

    ranks: list[tuple[Rooms, dict[str, str]]]
    windows: Windows
    limits: Limits
    done: Done | None


def load(
    spec: Spec,
    checkpoint_dir: str | PathLike[str],
    mesh: Mesh,
    *,
    device: Device = "cpu",
    **options: Unpack[Options],
) -> dict[str, torch.Tensor]:
    """One rank's tensors by name, in the spec's order; a tied tensor that the file lacks is its twin, the same object.

    The checkpoint is a directory, here or, as a URL, in a store that fsspec reads. All headers are checked before a
    tensor is allocated. Raises ShardError; nothing is kept then.
    """
    return load_ranks(spec, checkpoint_dir, [mesh], devices=[device], **options)[0]


def load_ranks(
    spec: Spec,
    checkpoint_dir: str | PathLike[str],
    meshes: Sequence[Mesh],
    *,
    devices: Sequence[Device] | None = None,
    **options: Unpack[Options],
) -> list[dict[str, torch.Tensor]]:
    """The tensors of several ranks, as `load` gives those of one, in one pass: what ranks share is read once.

    devices: one for each rank; the host, by default.
    """
    targets = [torch.device(device) for device in (["cpu"] * len(meshes) if devices is None else devices)]
    if len(targets) != len(meshes):
        raise ShardError(("SHD410", f"{len(targets)} devices for {len(meshes)} ranks"))
    directory = location(checkpoint_dir, options)
    ranks, windows, limits, done = prepare(spec, directory, meshes, targets, options)
    with carrying_out(windows, limits, options.get("threads"), done), collector_at_rest():
        return [tensors_of(*rank) for rank in ranks]


@collector_at_rest()
def prepare(
    spec: Spec, directory: Location, meshes: Sequence[Mesh], targets: Sequence[torch.device], options: Options
) -> Prepared:
    """Checks everything, allocates, and writes what is not in the files. Raises ShardError before it allocates.

    What the plans are made of ends here: reading needs its windows alone.
    """
    cast_to = cast_name(options.get("dtype"))
    stock = open_stock(directory, spec, meshes)
    refuse_packed(stock.headers)
    parts = parts_of_ranks(spec, stock, meshes, cast_to, fused=options.get("fused", True))
    separate = options.get("separate", False)
    rooms = [rooms_of(part, target, separate=separate) for part, target in zip(parts, targets, strict=True)]
    for part, own in zip(parts, rooms, strict=True):
        write_unread(part, own)
    limits = LOCAL if isinstance(directory, Path) else REMOTE
    files = windows_by_file(parts, rooms, limits)
    windows = {file_of(directory, file): found for file, found in files.items()}
    ranks = [(own, part.twins) for part, own in zip(parts, rooms, strict=True)]
    return Prepared(ranks, windows, limits, counted(parts, windows, options.get("progress")))


def location(checkpoint_dir: str | PathLike[str], options: Options) -> Location:
    """Where a checkpoint is. Raises SHD113 for a store that can't be opened."""
    return location_of(fspath(checkpoint_dir), options.get("filesystem"), options.get("storage_options"))


def windows_by_file(parts: list[RankPart], rooms: list[Rooms], limits: Limits) -> dict[str, list[Window]]:
    """What is read of each file, for all ranks."""
    pieces: dict[str, list[Piece]] = defaultdict(list)
    for part, own in zip(parts, rooms, strict=True):
        for fill in part.fills:
            (name, layout), buffer, _ = fill
            if layout.values is None:
                header = part.headers[name]
                pieces[header.file] += pieces_of(fill, header, own[buffer.name], limits)
    return {file: windows_of(pieces[file], limits) for file in sorted(pieces)}


def counted(parts: list[RankPart], windows: Mapping[Location, list[Window]], progress: Progress | None) -> Done | None:
    """What is to be called with the bytes of windows, if anything. What is not read counts as done before the first."""
    if progress is None:
        return None
    total = sum(fill.shard.local_bytes for part in parts for fill in part.fills)
    done = total - sum(window.nbytes for those in windows.values() for window in those)

    def count(filled: int) -> None:
        nonlocal done
        done += filled
        progress(done, total)

    return count
