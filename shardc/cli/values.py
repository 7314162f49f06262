"""Numbers as a command line writes them: ranks `0-3,6`, bytes `5GB`."""

from __future__ import annotations

import re

import click

_RANGE = re.compile(r"(\d{1,6})(?:-(\d{1,6}))?")
_BYTES = re.compile(r"([1-9]\d{0,17})(|B|[kKMGT]B|[KMGT]iB)")
_UNITS = {"": 1, "B": 1, "kB": 10**3, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12,
          "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}  # fmt: skip


def ranks(text: str) -> list[int]:
    """`0-3,6` as numbers, each once, in their order. Raises BadParameter."""
    found: set[int] = set()
    for part in text.split(","):
        match = _RANGE.fullmatch(part.strip())
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if last < first:
            raise click.BadParameter(f"{text} is no list of ranks, such as 0-3,6")
        found.update(range(first, last + 1))
    return sorted(found)


def bytes_of(text: str) -> int:
    """`5GB`, `512MiB` or a plain number as bytes. Raises BadParameter."""
    match = _BYTES.fullmatch(text.strip())
    if match is None:
        raise click.BadParameter(f"{text} is no size, such as 5GB or 512MiB")
    return int(match[1]) * _UNITS[match[2]]


def as_ranges(numbers: list[int]) -> str:
    """Numbers in ascending order as `0-3,6`."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ",".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)
