"""The families, a module each; a new one is a file and a line here."""

from __future__ import annotations

from shardc.prove.families import deepseek, gemma, glm5_next, llama, mamba, older, qwen_linear, vision
from shardc.prove.family import Family

FAMILIES: tuple[Family, ...] = (
    *deepseek.FAMILIES,
    *gemma.FAMILIES,
    *glm5_next.FAMILIES,
    *llama.FAMILIES,
    *mamba.FAMILIES,
    *older.FAMILIES,
    *qwen_linear.FAMILIES,
    *vision.FAMILIES,
)
#: A model that needs nothing of the kind.
PLAIN = Family(())


def family_of(model_type: str) -> Family:
    """What is known of a model type of transformers."""
    return next((family for family in FAMILIES if model_type in family.model_types), PLAIN)
