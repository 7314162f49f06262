"""Sizes of mesh dims on a command line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

import click

from shardc.plan.resolved import Resolved
from shardc.spec.target import NAMED

T = TypeVar("T")


def by_name(values: Iterable[str], read: Callable[[str], T], form: str) -> dict[str, T]:
    """`attn_tp=8` of each of `--mesh`, each mesh dim once; `read` takes what follows the `=`, `form` says what may.

    Raises BadParameter.
    """
    out: dict[str, T] = {}
    for value in values:
        name, equals, size = value.partition("=")
        if not (name and equals):
            raise click.BadParameter(f"{value} is not {form}")
        if name in NAMED:
            raise click.BadParameter(f"{name} has an option of its own: --{name} {size}")
        if name in out:
            raise click.BadParameter(f"{name} is given twice")
        out[name] = read(size)
    return out


def check_mesh_dims(resolved: Resolved, largest: Mapping[str, int]) -> None:
    """UsageError for more than one rank of a mesh dim that no axis is over, and for any of one that has no option."""
    for over, size in largest.items():
        if over not in resolved.mesh_dims and (size > 1 or over not in NAMED):
            raise click.UsageError(f"no axis of {resolved.spec.name} is over {over}")
