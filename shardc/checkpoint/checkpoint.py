"""A checkpoint as the compiler sees it: a config, and the header of every tensor. No weights are read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from shardc.checkpoint.configs import Config, config_of, read_directory_config
from shardc.checkpoint.file_findings import broken_file, unreadable
from shardc.checkpoint.gguf import only_gguf
from shardc.checkpoint.headers import Header
from shardc.checkpoint.index import read_weights
from shardc.checkpoint.json_text import read_json
from shardc.checkpoint.presharded import already_cut
from shardc.checkpoint.tables import TableHeaders, table_headers
from shardc.diagnostics import Diagnostic
from shardc.diagnostics.findings import counts
from shardc.plan.evidence import Grids
from shardc.spec.dtypes import nbytes

#: How the files of tensor tables end.
TABLE_SUFFIXES = (".json", ".json.gz")
_EXPECTED = "a directory of config.json and *.safetensors, or a tensor table (.json, .json.gz)"


class Checkpoint(Struct, frozen=True):
    """A directory of safetensors files, or a tensor table; `path` is as the user gave it.

    `architectures` are the classes that the config names, or, where it names none, the one that the table is of; those
    of an adapter's config are of the model below it, and none are given.
    """

    name: str
    path: str
    config: Config
    architectures: tuple[str, ...]
    headers: Mapping[str, Header]

    @property
    def grids(self) -> Grids | None:
        """The headers as a tensor table groups them; None for a directory."""
        return self.headers.grids if isinstance(self.headers, TableHeaders) else None

    @property
    def bytes(self) -> int:
        """Bytes of all tensors."""
        if isinstance(self.headers, TableHeaders):
            return self.headers.bytes
        return sum(count * nbytes(*header) for header, count in Counter(self.headers.values()).items())


def read_checkpoint(path: Path, tp: int | None = None) -> tuple[Checkpoint | None, list[Diagnostic]]:
    """Reads a checkpoint's config and headers; every fault of its files is reported, and none is left out.

    With a checkpoint there may be warnings. `tp` is the size that it is wanted for, where one is known.
    """
    try:
        gguf = only_gguf(path) if path.exists() else None
        if gguf is not None:
            return None, [gguf]
        if path.is_dir():
            return _read_directory(path, tp)
        if path.is_file() and path.name.endswith(TABLE_SUFFIXES):
            return _read_table(path)
        return None, [_no_checkpoint(path)]
    except OSError as error:
        return None, [unreadable(path, error, help=f"a checkpoint is {_EXPECTED}")]


def table_name(path: Path) -> str:
    """The name that a table's checkpoint has: the file's without its ending."""
    return path.name.removesuffix(".gz").removesuffix(".json")


def _read_directory(path: Path, tp: int | None) -> tuple[Checkpoint | None, list[Diagnostic]]:
    cut = already_cut(path, tp)
    if cut is not None:
        return None, [cut]
    config, config_findings = read_directory_config(path)
    headers, weight_findings = read_weights(path)
    findings = config_findings + weight_findings
    if headers is not None and not headers:
        findings.append(_no_weights(path))
    if config is None or headers is None or counts(findings).errors:
        return None, findings
    name = path.resolve().name if path.name in ("", "..") else path.name
    architectures = () if config.adapter else _named(config.data)
    return Checkpoint(name, str(path), config, architectures, headers), findings


def _read_table(path: Path) -> tuple[Checkpoint | None, list[Diagnostic]]:
    table = read_json(path)
    if isinstance(table, Diagnostic):
        return None, [table]
    headers, findings = table_headers(table)
    if headers is None:
        return None, findings
    name = table_name(path)
    config = config_of(table)
    architectures = _named(config.data) or _named({"architectures": [table.data.get("architecture")]})
    return Checkpoint(name, str(path), config, architectures, headers), []


def _named(config: Mapping[str, object]) -> tuple[str, ...]:
    """The architectures of a config; none where it has no list of names."""
    names = config.get("architectures")
    return tuple(name for name in names if isinstance(name, str)) if isinstance(names, list) else ()


def _no_weights(path: Path) -> Diagnostic:
    others = sorted(entry.name for entry in path.iterdir() if entry.suffix in (".bin", ".pt", ".pth"))
    return broken_file(
        path,
        "has no tensors",
        expected="one or more *.safetensors files",
        found=", ".join(others[:3]) if others else "none",
        help="convert the weights to safetensors" if others else "download the *.safetensors files of the checkpoint",
    )


def _no_checkpoint(path: Path) -> Diagnostic:
    weights = path.name.endswith(".safetensors") and path.is_file()
    return broken_file(
        path,
        "is not a checkpoint" if path.exists() else "does not exist",
        expected=_EXPECTED,
        found="one file of weights" if weights else "another kind of file" if path.exists() else "nothing",
        help=f"give its directory, {path.parent}" if weights else "",
    )
