"""Gemma, GLM-4, Phi-3, gpt-oss and Llama 4."""

from __future__ import annotations

from shardc.prove.family import Family

FAMILIES: tuple[Family, ...] = ()
