"""Which rows of a dim each rank keeps, in words that say it of all ranks at once.

`512r..+512`: rank r keeps 512 rows from row 512r. The words are exact: two cuts with the same words are the same cut.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import pairwise

from msgspec import Struct
from msgspec.structs import replace

from shardc.layout.regions import Region, Regions

#: Words for more than this would be no help to a reader.
MAX_WORDS = 160


class Run(Struct, frozen=True):
    """`size` rows of the file from `start`, `count` times, one every `pitch` rows; zeros where `start` is None."""

    start: int | None
    size: int
    count: int = 1
    pitch: int = 0


#: Where run i of rank r starts: c + a * (r // k) + b * (r % k).
Line = tuple[int, int, int]


def words(by_rank: Sequence[Regions]) -> str:
    """What the ranks keep of a dim. Where no words are short enough, a digest of the rows of all ranks."""
    ranks = [_joined(_runs(regions)) for regions in by_rank]
    said = _of_all(ranks) or _of_parted(by_rank) or "; ".join(_of_some(ranks))
    if len(said) <= MAX_WORDS:
        return said
    digest = hashlib.sha256(repr([tuple(regions) for regions in by_rank]).encode()).hexdigest()[:16]
    most = max(len(runs) for runs in ranks)
    return f"irregular, up to {most} {'run' if most == 1 else 'runs'} of rows a rank, digest {digest}"


def in_equal_blocks(by_rank: Sequence[Regions], size: int) -> bool:
    """Whether rank r keeps the r-th of equal blocks: what a local shape alone leads a reader to expect."""
    each, rest = divmod(size, len(by_rank))
    return not rest and all(regions == ((r * each, (r + 1) * each, 0),) for r, regions in enumerate(by_rank))


def is_whole(by_rank: Sequence[Regions], size: int) -> bool:
    """Whether every rank keeps all rows."""
    return all(regions == ((0, size, 0),) for regions in by_rank)


def _parted(by_rank: Sequence[Regions]) -> list[Regions]:
    """The same rows, parted wherever those of some rank begin or end: segments that meet on one rank are two again."""
    edges = sorted({edge for regions in by_rank for start, stop, _ in regions for edge in (start, stop)})
    out = []
    for regions in by_rank:
        parts: list[Region] = []
        for start, stop, pad in regions:
            inner = edges[bisect_right(edges, start) : bisect_left(edges, stop)] if stop > start else []
            parts += [(a, b, 0) for a, b in pairwise([start, *inner])]
            parts.append((inner[-1] if inner else start, stop, pad))
        out.append(tuple(parts))
    return out


def _runs(regions: Regions) -> list[Run]:
    """A rank's rows in the order in which it keeps them."""
    out: list[Run] = []
    for start, stop, pad in regions:
        if stop > start:
            out.append(Run(start, stop - start))
        if pad:
            out.append(Run(None, pad))
    return out


def _joined(runs: Sequence[Run]) -> list[Run]:
    """The same with three runs or more of one size, at one pitch, as one."""
    out: list[Run] = []
    for run in runs:
        last = out[-1] if out else run
        if last.count > 1 and run == replace(last, start=run.start, count=1, pitch=0) and _next(last) == run.start:
            out[-1] = replace(last, count=last.count + 1)
        elif len(out) > 1 and (first := out[-2]).count == last.count == 1 and _even(first, last, run):
            assert first.start is not None and run.start is not None
            out[-2:] = [replace(first, count=3, pitch=(run.start - first.start) // 2)]
        else:
            out.append(run)
    return out


def _next(run: Run) -> int | None:
    return None if run.start is None else run.start + run.count * run.pitch


def _even(first: Run, second: Run, third: Run) -> bool:
    """Whether three runs are of one size, and each as far from the one before."""
    if first.start is None or second.start is None or third.start is None:
        return False
    return first.size == second.size == third.size and second.start - first.start == third.start - second.start


def _of_all(ranks: Sequence[Sequence[Run]]) -> str | None:
    """One sentence for all ranks: by r, or by r // k and r % k where k neighbours go together."""
    for k in (k for k in range(1, len(ranks) + 1) if len(ranks) % k == 0):
        lines = _lines(ranks, 0, k)
        if lines is not None:
            return _sentence(ranks[0], lines, k)
    return None


def _of_parted(by_rank: Sequence[Regions]) -> str | None:
    """The same of rows that are parted first."""
    parted = [_runs(regions) for regions in _parted(by_rank)]
    return _of_all(parted) or _of_all([_joined(runs) for runs in parted])


def _of_some(ranks: Sequence[Sequence[Run]]) -> list[str]:
    """A sentence for each stretch of ranks that one can speak of."""
    out = []
    first = 0
    while first < len(ranks):
        last = _last_alike(ranks, first)
        if last == first + 1 and ranks[first] != ranks[last]:
            last = first  # Two that differ are shorter one by one.
        lines = _lines(ranks[first : last + 1], first, 1)
        assert lines is not None
        which = f"r={first}" if first == last else f"r={first}-{last}"
        out.append(f"{which}: {_sentence(ranks[first], lines, 1)}")
        first = last + 1
    return out


def _last_alike(ranks: Sequence[Sequence[Run]], first: int) -> int:
    """The last rank of the stretch from `first` on in which each run moves on by the same rows from rank to rank."""
    last = first
    steps: list[int] | None = None
    while last + 1 < len(ranks):
        here, there = ranks[last], ranks[last + 1]
        if list(map(_form, here)) != list(map(_form, there)):
            break
        found = [(b.start or 0) - (a.start or 0) for a, b in zip(here, there, strict=True)]
        if steps not in (None, found):
            break
        steps = found
        last += 1
    return last


def _form(run: Run) -> tuple[bool, int, int, int]:
    return run.start is None, run.size, run.count, run.pitch


def _lines(ranks: Sequence[Sequence[Run]], first: int, k: int) -> list[Line] | None:
    """Where each run starts, for ranks from `first` on; None where one line a run can't say it.

    With k = 1 it is by r alone; k > 1 wants `first` to be 0.
    """
    forms = list(map(_form, ranks[0]))
    if any(list(map(_form, runs)) != forms for runs in ranks):
        return None
    out = []
    for i in range(len(forms)):
        starts = [runs[i].start or 0 for runs in ranks]
        step = starts[k] - starts[0] if len(starts) > k else 0
        within = starts[1] - starts[0] if k > 1 else 0
        if any(start != starts[0] + step * (r // k) + within * (r % k) for r, start in enumerate(starts)):
            return None
        out.append((starts[0] - step * first, step, within))
    return out


def _sentence(runs: Sequence[Run], lines: Sequence[Line], k: int) -> str:
    said = [_run(run, line, k) for run, line in zip(runs, lines, strict=True)]
    return ", ".join(said) or "nothing"


def _run(run: Run, line: Line, k: int) -> str:
    if run.start is None:
        return f"{run.size} zero"
    start, step, within = line
    rows = f"{_start(line, k)}..+{run.size}" if step or within else f"{start}..{start + run.size}"
    return f"{rows} x{run.count} every {run.pitch}" if run.count > 1 else rows


def _start(line: Line, k: int) -> str:
    """`14336 + 1792r`, `128(r//4)`."""
    start, step, within = line
    terms = [(step, "r" if k == 1 else f"(r//{k})"), (within, f"(r%{k})")]
    said = str(start) if start else ""
    for factor, rank in terms:
        if factor:
            sign = ("+" if factor > 0 else "-") if said or factor < 0 else ""
            said += f"{sign}{abs(factor) if abs(factor) != 1 else ''}{rank}"
    return said
