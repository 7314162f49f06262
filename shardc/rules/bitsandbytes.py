"""Files that bitsandbytes quantised to 4 bits (SHD414): one finding for all of them, since no shape says how to cut."""

from __future__ import annotations

import re
from collections.abc import Mapping

from shardc.diagnostics import Diagnostic, Label, Value
from shardc.plan.bound import Bound
from shardc.plan.evidence import Header

_MARK = ".quant_state.bitsandbytes__"
_STATE = re.compile(rf"(?P<weight>.+){re.escape(_MARK)}(?P<type>nf4|fp4)")


def packed_by_bitsandbytes(bound: Bound, headers: Mapping[str, Header]) -> Diagnostic | None:
    """The finding, if a weight of the file has a `quant_state` of bitsandbytes beside it."""
    grids = bound.evidence.grids
    if grids is not None and not any(map(_STATE.fullmatch, grids.by_template)):
        return None
    states = [found for name in headers if _MARK in name and (found := _STATE.fullmatch(name))]
    if not states:
        return None
    weight, types = states[0]["weight"], sorted({state["type"] for state in states})
    dtype, shape = headers.get(weight, ("absent", ()))
    twice = ", double-quantised" if f"{weight}.nested_absmax" in headers else ""
    more = f" and {len(states) - 1} more weights are" if len(states) > 1 else " is"
    return Diagnostic(
        "SHD414",
        f"{weight}{more} packed by bitsandbytes in 4 bits ({', '.join(types)}{twice}), which is out of scope",
        Label(bound.resolved.document.key("groups")),
        values=(Value(weight, f"{dtype} {list(shape)}", bound.evidence.name),),
        notes=(
            "a weight is one column of bytes there, whatever its shape was, so its header does not say where rows end",
        ),
        help="cut the original checkpoint, and let the engine quantise each rank's part after loading",
    )
