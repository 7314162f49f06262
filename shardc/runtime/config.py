"""Facts of config.json."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shardc.runtime.errors import ShardError

Config = Mapping[str, Any]

MISSING = object()


def root(config: Config, path: str) -> Config:
    """The config nested at a dotted path, such as `text_config`. Raises SHD108 where there is none."""
    nested = look_up(config, path)
    if not isinstance(nested, Mapping):
        raise ShardError(("SHD108", f"config has no {path}"))
    return nested


def get(config: Config, *paths: str, found: tuple[str, int] | None = None, default: Any = MISSING) -> Any:
    """The value of one fact; several dotted paths are spellings of it, and JSON null counts as absent.

    found: what a header says of it, and which. A callable default is called.
    Raises SHD108 (absent, without a default) and SHD109 (two spellings disagree).
    """
    values = [(path, value) for path in paths if (value := look_up(config, path)) is not MISSING]
    if found:
        values.append(found)
    for path, value in values[1:]:
        first_path, first = values[0]
        if value != first:
            text = f"{first_path} = {first!r} and {path} = {value!r} disagree: they are two spellings of one fact"
            raise ShardError(("SHD109", text))
    if values:
        return values[0][1]
    if default is MISSING:
        lacks = f"config has {'no' if len(paths) == 1 else 'none of'} {', '.join(paths)}"
        raise ShardError(("SHD108", lacks if paths else "the file has no tensor that a size of the model is read from"))
    return default() if callable(default) else default


def look_up(config: Config, path: str) -> Any:
    """The value at a dotted path, or MISSING."""
    value: Any = config
    for key in path.split("."):
        value = value.get(key) if isinstance(value, Mapping) else None
    return MISSING if value is None else value
