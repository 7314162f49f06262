"""Short forms of fields, spelt out before they are checked: `dtype: F32` is `dtype: {file: [F32]}`."""

from __future__ import annotations

from typing import Any


def dtype_form(value: Any) -> Any:
    """`BF16`, `[BF16, F16]` or `{file: …, load: …}`."""
    if isinstance(value, str):
        return {"file": [value]}
    if isinstance(value, list):
        return {"file": value}
    return value


def symbol_form(value: Any) -> Any:
    """`hidden_size` or `{key: …, else: …}`."""
    return {"key": value} if isinstance(value, (str, list)) else value


def tied_form(value: Any) -> Any:
    """`model.embed_tokens.weight` or `{name: …, when: …}`."""
    return {"name": value} if isinstance(value, str) else value


def loop_form(value: Any) -> Any:
    """`layers` (0 .. layers-1), `[from, to]`, or the name of an axis."""
    if isinstance(value, list):
        if len(value) != 2:
            raise ValueError("an index runs over a count, [from, to], or an axis")
        return {"start": value[0], "stop": value[1]}
    if isinstance(value, (str, int)) and not isinstance(value, bool):
        return {"start": 0, "stop": value}
    return value
