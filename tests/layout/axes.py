"""The axes of these tests: their splits, and the scope of one rank."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shardc.layout.parse import parse
from shardc.layout.regions import Regions, Scope, regions, size
from shardc.layout.split import Dealing, Split, deal, deal_within

VALUES = {"head_dim": 8, "key_dim": 4, "value_dim": 2, "v_per_k": 3, "kv_lora": 512, "rope": 64, "hidden": 16}


def axis(name: str, elements: int, ranks: int, over: str = "tp", **how: Any) -> Split:
    return deal(name, elements, over, ranks, Dealing(**how))


def scope(*splits: Split, rank: Mapping[str, int] | None = None, **values: object) -> Scope:
    """The scope of one rank, by mesh dim; rank 0 where nothing is said."""
    return Scope({**VALUES, **values}, {split.axis: split for split in splits}, rank or {})


def attention(ranks: int, rank: int, **how: Any) -> Scope:
    """8 heads in groups of 2 within 4 kv heads, dealt to tp."""
    kv_heads = axis("kv_heads", 4, ranks, **how)
    return scope(deal_within("heads", 8, kv_heads), kv_heads, rank={"tp": rank})


def rows(layout: str, here: Scope) -> Regions:
    return regions(parse(layout), here)


def full(layout: str, here: Scope) -> int:
    return size(parse(layout), here)
