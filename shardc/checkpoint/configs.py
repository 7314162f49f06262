"""A model's config, with the line of each key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from shardc.checkpoint.json_text import JsonFile, read_json
from shardc.checkpoint.key_positions import find_key
from shardc.diagnostics import Diagnostic


@dataclass(frozen=True, slots=True)
class Config:
    """The data of a config and the text that it was read from.

    `within` are the keys that lead from the text's outermost object to the data: `("config",)` in a tensor table.
    """

    path: str
    data: Mapping[str, object]
    text: str
    within: tuple[str, ...] = ()

    def source(self, dotted_path: str) -> str:
        """`path:line` of a key, such as `text_config.hidden_size`; the path alone if it is not there or has no line."""
        offset = find_key(self.text, (*self.within, *dotted_path.split(".")))
        if offset is None or "\n" not in self.text.strip():
            return self.path
        return f"{self.path}:{self.text.count(chr(10), 0, offset) + 1}"


def config_of(file: JsonFile) -> Config:
    """The config in a file: its `config` member where that is an object (a tensor table), otherwise all of it."""
    member = file.data.get("config")
    if isinstance(member, dict):
        return Config(str(file.path), member, file.text, ("config",))
    return Config(str(file.path), file.data, file.text)


def read_config(path: Path) -> tuple[Config | None, list[Diagnostic]]:
    """Reads a config.json, or the config of a tensor table; a file that is no JSON object is SHD406."""
    file = read_json(path)
    return (None, [file]) if isinstance(file, Diagnostic) else (config_of(file), [])
