"""Axes as code: how one is dealt, and what an index runs over."""

from __future__ import annotations

from collections.abc import Mapping

from shardc.emit.python import code, identifier, quote
from shardc.layout.split import Dealing
from shardc.plan.region_limit import is_round_robin
from shardc.plan.resolved import Axis, Loop


def options(how: Dealing) -> list[str]:
    """The arguments of `rt.axis` that are not as they are if nothing is said."""
    out = []
    if how.if_uneven != "error":
        out.append(f"if_uneven={quote(how.if_uneven)}")
    if how.if_fewer != "error":
        out.append(f"if_fewer={quote(how.if_fewer)}")
    if how.replicas != "blocked":
        out.append(f"replicas={quote(how.replicas)}")
    if how.pad_to is not None:
        out.append(f"pad_to={how.pad_to}")
    if how.pad_local_to is not None:
        out.append(f"pad_local_to={how.pad_local_to}")
    if how.placement != "contiguous":
        out.append(f"placement={quote(how.placement)}")
    return out


def index_values(loop: Loop, axes: Mapping[str, Axis]) -> str:
    """What an index runs over; of an axis, the elements that the rank keeps."""
    start, stop = code(loop.start), code(loop.stop)
    if loop.axis is None:
        return f"range({stop})" if start == "0" else f"range({start}, {stop})"
    axis = identifier(loop.axis)
    if loop.is_part:
        return f"{axis}.elements({start})" if loop.stop == loop.size else f"{axis}.elements({start}, {stop})"
    return f"{axis}.elements()" if is_round_robin(loop.axis, axes) else f"range({axis}.start, {axis}.stop)"
