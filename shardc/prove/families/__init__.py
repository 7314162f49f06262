"""The families, a module each; a new one is a file and a line here."""

from __future__ import annotations

from shardc.prove.families import deepseek, fused, glm5_next, mamba, qwen_linear, vision
from shardc.prove.family import Family

FAMILIES: tuple[Family, ...] = (
    *deepseek.FAMILIES,
    *fused.FAMILIES,
    *glm5_next.FAMILIES,
    *mamba.FAMILIES,
    *qwen_linear.FAMILIES,
    *vision.FAMILIES,
)
#: A model that needs nothing of the kind, such as Llama, Qwen3, Mixtral, Gemma or BERT.
PLAIN = Family(())


def family_of(model_type: str) -> Family:
    """What is known of a model type of transformers."""
    return next((family for family in FAMILIES if model_type in family.model_types), PLAIN)
