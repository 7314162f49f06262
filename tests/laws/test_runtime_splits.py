"""The compiler and the loader deal an axis alike: the same spans, or the same refusal in the same words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from shardc.layout.errors import SplitError
from shardc.layout.split import Dealing, Split, deal, deal_within
from shardc.runtime import Axis, MeshDim, ShardError, axis, within

_MAYBE = st.one_of(st.none(), st.integers(1, 70))
_PADDED = st.fixed_dictionaries(
    {
        "granule": st.sampled_from([1, 1, 2, 3, 16, 128]),
        "if_uneven": st.sampled_from(["error", "spread", "ceil", "whole"]),
        "if_fewer": st.sampled_from(["error", "replicate"]),
        "replicas": st.sampled_from(["blocked", "cyclic"]),
        "pad_to": _MAYBE,
        "pad_local_to": _MAYBE,
        "placement": st.just("contiguous"),
    }
)
_ROUND_ROBIN = st.fixed_dictionaries(
    {
        "granule": st.sampled_from([1, 1, 2, 3, 16, 128]),
        "if_uneven": st.sampled_from(["error", "spread", "whole"]),
        "if_fewer": st.sampled_from(["error", "replicate"]),
        "replicas": st.sampled_from(["blocked", "cyclic"]),
        "placement": st.just("round_robin"),
    }
)
_OPTIONS = st.one_of(_PADDED, _ROUND_ROBIN)


def runs(found: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Runs that touch as one."""
    out: list[tuple[int, int]] = []
    for start, stop in found:
        if out and out[-1][1] == start:
            out[-1] = (out[-1][0], stop)
        else:
            out.append((start, stop))
    return out


def compiler(size: int, ranks: int, options: dict[str, Any], groups: list[int]) -> list[Any]:
    """(runs, pad, local size) of every rank, for the axis and each axis within it, up to the first refusal."""
    out: list[Any] = []
    try:
        split: Split = deal("axis", size, "tp", ranks, Dealing(**options))
        out.append([(runs(share.runs), share.pad, share.local) for share in split.shares])
        for inner in groups:
            split = deal_within("inner", inner, split)
            out.append([(runs(share.runs), share.pad, share.local) for share in split.shares])
    except SplitError as error:
        out.append((error.code, error.message))
    return out


def loader(size: int, ranks: int, options: dict[str, Any], groups: list[int]) -> list[Any]:
    out: list[Any] = []
    try:
        axes: list[Axis] = [axis("axis", size, MeshDim("tp", rank, ranks), **options) for rank in range(ranks)]
        out.append([(runs(one.runs), one.pad, one.local) for one in axes])
        for inner in groups:
            axes = [within("inner", inner, one) for one in axes]
            out.append([(runs(one.runs), one.pad, one.local) for one in axes])
    except ShardError as error:
        out.append(error.findings[0])
    return out


@settings(max_examples=1000)
@given(
    size=st.one_of(st.integers(0, 40), st.integers(0, 2000)),
    ranks=st.one_of(st.integers(1, 9), st.integers(1, 500)),
    options=_OPTIONS,
    ratios=st.lists(st.integers(1, 4), max_size=2),
    off=st.sampled_from([0, 0, 0, 0, 1]),
)
def test_alike(size: int, ranks: int, options: dict[str, Any], ratios: list[int], off: int) -> None:
    groups = [size * ratio + off for ratio in ratios[:1]]
    groups += [groups[0] * ratio + off for ratio in ratios[1:]]
    assert compiler(size, ranks, options, groups) == loader(size, ranks, options, groups)
