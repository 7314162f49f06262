"""What a plan is made from besides the spec: a config, and, where there are any, the headers of a checkpoint."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

#: (dtype, full shape as stored) of a tensor of the file.
Header = tuple[str, tuple[int, ...]]


def _no_source(path: str) -> str:
    return path


@dataclass(frozen=True)
class Evidence:
    """A config.json, and the headers by tensor name; `source` tells where a config key stands (`file:line`)."""

    name: str
    config: Mapping[str, object]
    headers: Mapping[str, Header] | None = None
    source: Callable[[str], str] = field(default=_no_source)
