"""A checkpoint directory: which file holds each tensor, and its config."""

from __future__ import annotations

import warnings
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from shardc.runtime.collector import collector_at_rest
from shardc.runtime.errors import Finding, ShardError
from shardc.runtime.headers import Header, parse_headers, read_header_text, read_object
from shardc.runtime.locations import Location

INDEX = "model.safetensors.index.json"
READERS = 16


def read_config(directory: Location) -> dict[str, Any]:
    """config.json of a checkpoint; of an adapter, adapter_config.json under `adapter`, beside the keys of config.json.

    Raises SHD113 (there is neither) and SHD406 (not a JSON object).
    """
    path, adapter = directory / "config.json", directory / "adapter_config.json"
    if not path.is_file() and not adapter.is_file():
        raise ShardError(("SHD113", f"{directory} has no config.json"))
    config = read_object(path) if path.is_file() else {}
    return config | {"adapter": read_object(adapter)} if adapter.is_file() else config


@collector_at_rest()
def read_headers(directory: Location) -> dict[str, Header]:
    """Every tensor of a checkpoint by name. An index decides which file holds it; without one, all files count.

    Raises SHD113 (no file), SHD406 (broken files) and SHD407 (index and files disagree), with every fault.
    """
    index = find_index(directory)
    if index:
        return read_indexed(directory, index, read_weight_map(index))
    files = sorted(directory.glob("*.safetensors"))
    if not files:
        raise ShardError(("SHD113", f"{directory} has no *.safetensors file"))
    return merge(read_files(files))


def find_index(directory: Location) -> Location | None:
    """The index of a checkpoint: the usual name, or the only file named like one. Raises SHD407 for several."""
    usual = directory / INDEX
    if usual.is_file():
        return usual
    found = sorted(directory.glob("*.safetensors.index.json"))
    if len(found) > 1:
        raise ShardError(("SHD407", f"several indexes, none of them {INDEX}: {', '.join(path.name for path in found)}"))
    return found[0] if found else None


def read_weight_map(index: Location) -> dict[str, list[str]]:
    """The tensors that an index puts in each file. Raises SHD407 where it is none, or names a file elsewhere."""
    weight_map = read_object(index).get("weight_map")
    if not isinstance(weight_map, dict) or not all(isinstance(file, str) for file in weight_map.values()):
        raise ShardError(("SHD407", f"{index.name} has no weight_map from tensors to files"))
    names: dict[str, list[str]] = defaultdict(list)
    for name, file in weight_map.items():
        names[file].append(name)
    elsewhere = [file for file in names if Path(file).name != file or "\\" in file]
    if elsewhere:
        raise ShardError(*(("SHD407", f"{index.name} names {file!r}, no plain file name") for file in elsewhere))
    return names


def read_indexed(directory: Location, index: Location, names: dict[str, list[str]]) -> dict[str, Header]:
    """The headers of the tensors that an index names, each from the file it names; other copies are warned of."""
    findings: list[Finding] = []
    with ThreadPoolExecutor(READERS) as readers:
        there = list(readers.map(lambda file: (directory / file).is_file(), names))
    for (file, held), found in zip(names.items(), there, strict=True):
        if not found:
            others = f" and {len(held) - 1} more" if len(held) > 1 else ""
            findings.append(("SHD407", f"{index.name} puts {held[0]}{others} in {file}, which does not exist"))
    if findings:
        raise ShardError(*findings)
    files = read_files([directory / file for file in sorted(names)])
    for file, held in names.items():
        lacking = [name for name in held if name not in files[file]]
        findings += [("SHD407", f"{index.name} puts {name} in {file}, which lacks it") for name in lacking]
    if findings:
        raise ShardError(*findings)
    for text in shadowed(index, names, files):
        warnings.warn(f"SHD413: {text}", stacklevel=2)
    return {name: files[file][name] for file, held in names.items() for name in held}


def shadowed(index: Location, names: dict[str, list[str]], files: dict[str, dict[str, Header]]) -> list[str]:
    """For each file and each other file that the index prefers: which tensor's copy is left aside, and how many."""
    if sum(map(len, files.values())) == sum(map(len, names.values())):
        return []
    preferred = {name: file for file, held in names.items() for name in held}
    copies: dict[tuple[str, str], list[str]] = defaultdict(list)
    for file, headers in files.items():
        for name in headers:
            if preferred.get(name, file) != file:
                copies[file, preferred[name]].append(name)
    return [
        f"{file} holds {held[0]}{f' and {len(held) - 1} more' if len(held) > 1 else ''} too, "
        f"which {index.name} takes from {other}"
        for (file, other), held in copies.items()
    ]


@collector_at_rest()
def read_files(paths: list[Location]) -> dict[str, dict[str, Header]]:
    """The headers of several files, by file name. Raises SHD406 with the faults of all of them, in the files' order.

    Threads read ahead, which is what takes long where files are far; one thread parses.
    """
    files: dict[str, dict[str, Header]] = {}
    findings: list[Finding] = []
    with ThreadPoolExecutor(READERS) as readers:
        texts = [readers.submit(read_header_text, path) for path in paths]
        for path, text in zip(paths, texts, strict=True):
            try:
                files[path.name] = parse_headers(path, *text.result())
            except ShardError as error:
                findings += error.findings
    if findings:
        raise ShardError(*findings)
    return files


def merge(files: dict[str, dict[str, Header]]) -> dict[str, Header]:
    """The tensors of all files. Raises SHD407 for each that is in two."""
    merged: dict[str, Header] = {}
    findings: list[Finding] = []
    for file, headers in files.items():
        for name in headers.keys() & merged.keys():
            findings.append(("SHD407", f"{name} is in {Path(merged[name].file).name} and in {file}"))
        merged |= headers
    if findings:
        raise ShardError(*sorted(findings))
    return merged
