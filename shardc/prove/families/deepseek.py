"""DeepSeek and GLM-5: latent attention."""

from __future__ import annotations

from shardc.prove.family import Family

FAMILIES: tuple[Family, ...] = ()
