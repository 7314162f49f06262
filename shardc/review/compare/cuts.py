"""Which tensors the ranks of one mesh keep otherwise than before."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

from msgspec import Struct

from shardc.plan.as_text import shape
from shardc.plan.plan import Coords, Plan
from shardc.plan.rows import shown_name
from shardc.review.by_rank import ByRank
from shardc.review.compare.content import Content, Contents, Ranks
from shardc.review.compare.pairs import Held, Pair
from shardc.review.compare.words import rows
from shardc.review.diff import Cut

#: In place of who keeps a name, on a mesh dim that does not select names.
_NOBODY: tuple[None] = (None,)


class Sides(Struct):
    """Both versions' plans of one mesh, and what is remembered of each over the meshes."""

    before: Plan
    after: Plan
    was: Contents
    is_: Contents


def changed_cuts(pairs: list[Pair], sides: Sides) -> list[Cut]:
    """The tensors that both versions have and some rank keeps otherwise; those that differ alike are one."""
    found: dict[tuple[str, str, str], int] = {}
    for pair in pairs:
        if pair.before is None or pair.after is None:
            continue
        for count, words in _differences(pair.before, pair.after, sides):
            key = (shown_name(pair.after.part), *words)
            found[key] = found.get(key, 0) + count
    return [Cut(pattern, count, before, after) for (pattern, before, after), count in found.items()]


def _differences(before: Held, after: Held, sides: Sides) -> Iterator[tuple[int, tuple[str, str]]]:
    was, is_ = sides.was.of(sides.before, before), sides.is_.of(sides.after, after)
    if was != is_:
        yield before.count, _words(was, is_, sides.after)
        return
    if not before.family.selecting and not after.family.selecting:
        return
    old, new = sides.was.owners(sides.before, before), sides.is_.owners(sides.after, after)
    if old != new:
        over = {**old, **new}
        who = [list(zip(*(side.get(dim, _NOBODY * after.count) for dim in over), strict=True)) for side in (old, new)]
        moved = [i for i in range(after.count) if who[0][i] != who[1][i]]
        first = [f"on {_ranks(_known(side[moved[0]], sides.is_.ranks))}" for side in who]
        yield len(moved), (first[0], first[1])


def _known(numbers: Iterable[int | None], ranks: Ranks) -> tuple[ByRank[bool], ...]:
    return tuple(way for n in numbers if n is not None and (way := ranks.way(n)).over)


def _words(was: Content, is_: Content, plan: Plan) -> tuple[str, str]:
    """What differs, on the first rank on which something does."""
    if was.load != is_.load and (was.dims, was.on, was.shape) == (is_.dims, is_.on, is_.shape):
        return f"loads as {was.load}", f"loads as {is_.load}"
    if was.on != is_.on:
        return f"on {_ranks(was.on)}", f"on {_ranks(is_.on)}"
    over = sorted({dim for content in (was, is_) for one in content.dims for dim in one.over})
    rank = next((rank for rank in _ranks_of(over, plan) if was.regions(rank) != is_.regions(rank)), {})
    here = ", ".join(f"{dim} rank {r}" for dim, r in rank.items())
    dims = [i for i in range(len(is_.shape)) if i >= len(was.dims) or was.dims[i].at(rank) != is_.dims[i].at(rank)]
    before = f"{here}: " if here else ""
    return before + _kept(was, rank, dims), before + _kept(is_, rank, dims)


def _kept(content: Content, rank: Coords, dims: list[int]) -> str:
    """`128 x 2048, rows 0..128`"""
    at = content.regions(rank)
    local = shape(tuple(sum(stop - start + pad for start, stop, pad in regions) for regions in at))
    named = {0: "rows", 1: "columns"} if len(at) <= 2 else {}
    kept = [f"{named.get(i, f'dim {i}')} {rows(at[i])}" for i in dims if i < len(at)]
    return ", ".join([local, *kept])


def _ranks_of(over: list[str], plan: Plan) -> Iterator[Coords]:
    for at in itertools.product(*(range(plan.mesh.get(dim, 1)) for dim in over)):
        yield dict(zip(over, at, strict=True))


def _ranks(on: tuple[ByRank[bool], ...]) -> str:
    """`ep rank 0, 1`; every rank where nothing is said."""
    said = []
    for one in on:
        there = [str(r) for r, kept in enumerate(one.values) if kept]
        more = f", … ({len(there)})" if len(there) > 4 else ""
        said.append(f"{one.over[0]} rank {', '.join(there[:4])}{more}" if there else f"no {one.over[0]} rank")
    return " and ".join(said) or "every rank"
