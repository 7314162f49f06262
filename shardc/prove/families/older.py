"""GPT-2, BLOOM, Falcon, GPT-NeoX and BERT: fused projections, biases, layer norms."""

from __future__ import annotations

from shardc.prove.family import Family

FAMILIES: tuple[Family, ...] = ()
