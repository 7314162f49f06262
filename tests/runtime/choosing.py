"""What many tests start from: how a tensor is stored, by headers and a config."""

from __future__ import annotations

from typing import Any

from shardc.runtime import Tensor
from shardc.runtime.choices import Choice, Headers, choose
from shardc.runtime.settling import facts_of
from shardc.runtime.tensors import Formats


def chosen(
    tensor: Tensor, formats: Formats, headers: Headers | None = None, config: dict[str, Any] | None = None
) -> Choice | None:
    """`choose`, with the facts of a config, which is empty where there is none."""
    return choose(tensor, formats, headers, {name: facts_of(format, config or {}) for name, format in formats.items()})
