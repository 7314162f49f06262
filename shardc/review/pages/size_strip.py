"""Which sizes of each mesh dim work, and what stops each of the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from shardc.plan.bound import Bound
from shardc.plan.resolved import in_order
from shardc.plan.sweep import sweep

LARGEST = 64


def size_strips(bound: Bound, claimed: Mapping[str, Sequence[int]]) -> list[dict[str, object]]:
    """For each mesh dim that splits something, all sizes to 64 and those claimed, with one rank of the others.

    A size is [size, bytes of rank 0 or null, whether it is claimed, numbers of reasons]; `why` has the reasons.
    """
    others = dict.fromkeys(bound.resolved.mesh_dims, 1)
    out: list[dict[str, object]] = []
    for dim in in_order(bound.resolved.splitting):
        said = set(claimed.get(dim, ()))
        sizes = sorted({*range(1, LARGEST + 1), *said})
        why: dict[str, int] = {}
        tried = [
            [one.mesh[dim], one.local, one.mesh[dim] in said, [why.setdefault(r, len(why)) for r in one.reasons]]
            for one in sweep(bound, [{**others, dim: size} for size in sizes])
        ]
        out.append({"dim": dim, "sizes": tried, "why": list(why)})
    return out
