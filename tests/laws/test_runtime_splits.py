"""The compiler and the loader deal an axis alike: the same spans, or the same refusal in the same words."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from shardc.layout.errors import SplitError
from shardc.layout.split import Dealing, Split, deal, deal_within
from shardc.runtime import Axis, MeshDim, ShardError, axis, within

_MAYBE = st.one_of(st.none(), st.integers(1, 70))
_OPTIONS = st.fixed_dictionaries(
    {
        "granule": st.sampled_from([1, 1, 2, 3, 16, 128]),
        "if_uneven": st.sampled_from(["error", "spread", "ceil", "whole"]),
        "if_fewer": st.sampled_from(["error", "replicate"]),
        "replicas": st.sampled_from(["blocked", "cyclic"]),
        "pad_to": _MAYBE,
        "pad_local_to": _MAYBE,
    }
)


def compiler(size: int, ranks: int, options: dict[str, Any], groups: list[int]) -> list[Any]:
    """(start, stop, pad) of every rank, for the axis and each axis within it, up to the first refusal."""
    out: list[Any] = []
    try:
        split: Split = deal("axis", size, "tp", ranks, Dealing(**options))
        out.append([(share.start, share.stop, share.pad) for share in split.shares])
        for inner in groups:
            split = deal_within("inner", inner, split)
            out.append([(share.start, share.stop, share.pad) for share in split.shares])
    except SplitError as error:
        out.append((error.code, error.message))
    return out


def loader(size: int, ranks: int, options: dict[str, Any], groups: list[int]) -> list[Any]:
    out: list[Any] = []
    try:
        axes: list[Axis] = [axis("axis", size, MeshDim("tp", rank, ranks), **options) for rank in range(ranks)]
        out.append([(one.start, one.stop, one.pad) for one in axes])
        for inner in groups:
            axes = [within("inner", inner, one) for one in axes]
            out.append([(one.start, one.stop, one.pad) for one in axes])
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
