"""Short forms of fields, spelt out before they are checked: `dtype: F32` is `dtype: {file: [F32]}`."""

from __future__ import annotations

from typing import Any


def dtype_form(value: Any) -> Any:
    """`BF16`, `[BF16, F16]` or `{file: …, load: …}`."""
    match value:
        case str():
            return {"file": [value]}
        case list():
            return {"file": value}
        case dict():
            return value
    raise ValueError("`dtype` is one dtype, a list of them, or {file: …, load: …}")


def symbol_form(value: Any) -> Any:
    """`hidden_size`, `[num_kv_heads, n_head_kv]` or `{key: …, else: …}`."""
    match value:
        case str() | list():
            return {"key": value}
        case dict():
            return value
    raise ValueError("a symbol is a key of config.json, a list of its spellings, or {key: …, else: …}")


def tied_form(value: Any) -> Any:
    """`model.embed_tokens.weight` or `{name: …, when: …}`."""
    match value:
        case str():
            return {"name": value}
        case dict():
            return value
    raise ValueError("a tensor is tied to a name, or to {name: …, when: …}")


def loop_form(value: Any) -> Any:
    """`layers` (0 .. layers-1), `[from, to]`, the name of an axis, or `{of: axis, from: …, to: …}`."""
    match value:
        case [start, stop]:
            return {"from": start, "to": stop}
        case bool() | list():
            pass
        case str() | int():
            return {"from": 0, "to": value}
        case dict():
            return value
    raise ValueError("an index runs over a count, [from, to], an axis, or a part of one: {of: axis, from: …, to: …}")


def formats_form(value: Any) -> Any:
    """`[dense, fp8_block]` is the set `linear`; or sets by name."""
    return {"linear": value} if isinstance(value, list) else value


def use_form(value: Any) -> Any:
    """`gqa`, `[gqa, qk_norm]`, or with mappings `{fragment: gated_mlp, with: {inter: shared_inter}}` among them."""
    items = value if isinstance(value, list) else [value]
    return [{"fragment": item} if isinstance(item, str) else item for item in items]
