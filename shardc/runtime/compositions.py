"""What each dim of a local tensor is made of, for the tensors of a file and for outputs."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from operator import itemgetter

from shardc.runtime.buffers import Place, Places
from shardc.runtime.row_runs import RowRun, RowRuns, merged_rows, moved_runs
from shardc.runtime.shards import Layout, Shard

Composition = tuple[RowRuns, ...]  # one for each dim
Made = Layout | Composition  # the layout of a tensor of the file tells its composition
PlacedShard = tuple[Shard, Place]


def made_of(shards: Iterable[Shard], places: Places) -> dict[str, Made]:
    """What every local tensor is made of, by name, in their order; an output stands where its first member does."""
    members: dict[str, list[PlacedShard]] = {}
    found: dict[str, Made] = {}
    for shard in shards:
        name, layout = shard
        place = places.get(name)
        if place is None:
            found[name] = layout
        else:
            found[place.buffer.name] = ()
            members.setdefault(place.buffer.name, []).append((shard, place))
    return found | {name: of_output(placed) for name, placed in members.items()}


def composition_of(made: Made) -> Composition:
    """The composition of a local tensor."""
    return of_layout(made) if isinstance(made, Layout) else made


@lru_cache(maxsize=4096)
def of_layout(layout: Layout) -> Composition:
    """The composition of a shard; its rows have no source but itself."""
    if layout.values is not None:
        own = f"its own sizes {list(layout.values)}"
        return tuple(((own, 0, size),) for size in layout.local_shape)
    return tuple(
        merged_rows(run for start, stop, pad in spans for run in (("", start, stop), (None, 0, pad)))
        for spans in layout.at
    )


def of_output(placed: list[PlacedShard]) -> Composition:
    """The composition of an output; a stacked one has its elements, by the names of their members, in front."""
    elements: dict[int, list[PlacedShard]] = {}
    for shard, place in placed:
        if place.element is None:
            return of_members(placed, [shard.name for shard, _ in placed])
        elements.setdefault(place.element, []).append((shard, place))
    ordered = [members for _, members in sorted(elements.items())]
    parts = [of_members(members, [f"member {i}" for i in range(len(members))]) for members in ordered]
    names = [" and ".join(shard.name for shard, _ in members) for members in ordered]
    front: list[RowRun] = [(name, 0, 1) for name in told_apart(names, parts)]
    missing = placed[0][1].buffer.shape[0] - len(front)
    return (merged_rows([*front, (None, 0, missing)]), *parts[0])


def of_members(placed: list[PlacedShard], sources: list[str]) -> Composition:
    """The composition of members along their output dim; `sources` are what their rows are called."""
    place = placed[0][1]
    dim = place.dim
    if dim is None:
        rows = [(own.moves[0].place, (source, 0, 1)) for (_, own), source in zip(placed, sources, strict=True)]
        is_vector = len(place.buffer.shape) > (place.element is not None)
        return (rows_in_order(rows),) if is_vector else ()
    others = [without_dim(of_layout(member.layout), dim) for member, _ in placed]
    moved = [
        row
        for (member, own), source in zip(placed, told_apart(sources, others), strict=True)
        for row in moved_runs(own.moves, member.at[dim], source)
    ]
    return (*others[0][:dim], rows_in_order(moved), *others[0][dim:])


def without_dim(composition: Composition, dim: int) -> Composition:
    """The composition of all dims but one."""
    return composition[:dim] + composition[dim + 1 :]


def rows_in_order(moved: Iterable[tuple[int, RowRun]]) -> RowRuns:
    """RowRuns of rows, in the order of their places."""
    return merged_rows(run for _, run in sorted(moved, key=itemgetter(0)))


def told_apart(sources: list[str], compositions: list[Composition]) -> list[str]:
    """The names of sources; where the rest of them is not alike, that is a part of each name."""
    if len(set(compositions)) == 1:
        return sources
    return [f"{source} of {rest}" for source, rest in zip(sources, compositions, strict=True)]
