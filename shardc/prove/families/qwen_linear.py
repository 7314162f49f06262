"""Qwen3-Next, Qwen3.5 and Kimi-Linear: layers of linear attention between layers of attention."""

from __future__ import annotations

from shardc.prove.family import Family

FAMILIES: tuple[Family, ...] = ()
