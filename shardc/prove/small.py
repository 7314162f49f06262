"""Small configs, in the form of published ones: the models that a spec is proved with."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path
from typing import Any


def read_small(path: Path) -> dict[str, Any]:
    """A config.json. Raises ValueError where it is none, or names no model."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ValueError(f"{path}: {error}") from error
    if not isinstance(found, dict) or not found.get("architectures") or not found.get("model_type"):
        raise ValueError(f"{path}: a config.json has `architectures` and `model_type`")
    return found


def small_configs(folder: Path, architectures: Collection[str]) -> list[Path]:
    """Those of a folder that are of one of the architectures, in the order of their names."""
    return [path for path in sorted(folder.glob("*.json")) if read_small(path)["architectures"][0] in architectures]
