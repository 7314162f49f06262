"""A model's config, with the line of each key."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from shardc.checkpoint.json_text import JsonFile, read_json
from shardc.checkpoint.key_positions import find_key
from shardc.diagnostics import Diagnostic

ADAPTER = "adapter"
"""The key under which a directory's config has what its adapter_config.json says."""


class Config(Struct, frozen=True):
    """The data of a config and the text that it was read from.

    `within` are the keys that lead from the text's outermost object to the data: `("config",)` in a tensor table.
    `adapter` is the config that stands under the key `adapter` of the data, from a file of its own.
    """

    path: str
    data: Mapping[str, object]
    text: str
    within: tuple[str, ...] = ()
    adapter: Config | None = None

    def source(self, dotted_path: str) -> str:
        """`path:line` of a key, such as `text_config.hidden_size`; the path alone if it is not there or has no line."""
        if self.adapter is not None and dotted_path.startswith(f"{ADAPTER}."):
            return self.adapter.source(dotted_path.removeprefix(f"{ADAPTER}."))
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


def read_directory_config(directory: Path) -> tuple[Config | None, list[Diagnostic]]:
    """A checkpoint's config.json; of an adapter, adapter_config.json under `adapter`, beside the keys of config.json.

    SHD406 for a file that is no JSON object, and where there is neither.
    """
    path, adapter_path = directory / "config.json", directory / "adapter_config.json"
    if not adapter_path.is_file():
        return read_config(path)
    adapter, findings = read_config(adapter_path)
    base, base_findings = read_config(path) if path.is_file() else (Config(str(adapter_path), {}, ""), [])
    if adapter is None or base is None:
        return None, findings + base_findings
    return replace(base, data={**base.data, ADAPTER: adapter.data}, adapter=adapter), []
