"""Copies of a tensor that an index leaves aside: it takes the tensor from another file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from shardc.checkpoint.file_findings import quoted
from shardc.checkpoint.headers import Header
from shardc.diagnostics import Diagnostic, Value


def shadowed(
    index: Path, held: Mapping[str, Mapping[str, Header]], weight_map: Mapping[str, str]
) -> Iterator[Diagnostic]:
    """One warning, SHD413, for each file and each other file that the index prefers. `held`: the tensors of files."""
    for file, stored in held.items():
        preferred: dict[str, list[str]] = {}
        for name in stored:
            if weight_map.get(name, file) != file:
                preferred.setdefault(weight_map[name], []).append(name)
        for other, (first, *more) in preferred.items():
            yield Diagnostic(
                "SHD413",
                f"{index.parent / file}: holds {quoted(first)} too, which {index.name} takes from {other}",
                values=(Value("read", f"{quoted(first)} of {other}"), Value("left aside", f"the copy in {file}")),
                help=f"nothing to do if {other} is meant to replace {file}; otherwise correct the index",
                same_cause=tuple(more),
                severity="warning",
                about=str(index.parent / file),
            )
