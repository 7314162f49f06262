"""A group of a tensor table: one name with placeholders, the numbers they run over, one dtype and one shape."""

from __future__ import annotations

import math
import re

from msgspec import Struct

from shardc.checkpoint.file_findings import Fault, shown
from shardc.checkpoint.headers import Header, as_shape, header, is_pair
from shardc.spec.dtypes import SIZES

_PLACEHOLDER = re.compile(r"\{(0|[1-9][0-9]*)\}")
_MAX_NAME = 1000
_FIELDS = {"name", "index", "dtype", "shape"}
_EXPECTED = '{"name": text with {0}, {1}, …, "index": [[[first, last], …], …], "dtype": name, "shape": [sizes]}'


class TensorGroup(Struct, frozen=True):
    """The tensors `literals[0] n0 literals[1] n1 … literals[k]`, for each n_i in `indices[i]`, all with one header."""

    literals: tuple[str, ...]
    indices: tuple[tuple[range, ...], ...]
    header: Header

    @property
    def count(self) -> int:
        """How many tensors: the product of the placeholders' numbers."""
        return math.prod(sum(run.stop - run.start for run in runs) for runs in self.indices)

    def names(self) -> list[str]:
        """The names, the last placeholder running fastest."""
        names = [self.literals[0]]
        for runs, literal in zip(self.indices, self.literals[1:], strict=True):
            endings = [f"{number}{literal}" for run in runs for number in run]
            names = [name + ending for name in names for ending in endings]
        return names


def parse_group(value: object, place: str) -> TensorGroup | Fault:
    """A group from its JSON value; a Fault, under the name `place`, where it is malformed."""

    def malformed() -> Fault:
        return Fault(place, "is malformed", _EXPECTED, shown(value))

    if not isinstance(value, dict) or not {"name", "dtype", "shape"} <= value.keys() <= _FIELDS:
        return malformed()
    name, dtype, shape, index = value["name"], value["dtype"], as_shape(value["shape"]), value.get("index", [])
    if shape is None or not isinstance(name, str) or len(name) > _MAX_NAME or not isinstance(index, list):
        return malformed()
    if not isinstance(dtype, str) or dtype not in SIZES:
        return Fault(place, "has an unknown dtype", ", ".join(SIZES), shown(dtype))
    literals, placeholders = _split_name(name)
    runs = [_as_runs(ranges) for ranges in index]
    if sorted(placeholders) != list(range(len(runs))) or any("{" in text or "}" in text for text in literals):
        return Fault(place, "has a name that does not fit its index", _placeholders(len(runs)), shown(name))
    if not all(runs):
        return malformed()
    return TensorGroup(literals, tuple(runs[number] for number in placeholders), header(dtype, shape))


def _split_name(name: str) -> tuple[tuple[str, ...], tuple[int, ...]]:
    parts = _PLACEHOLDER.split(name)
    return tuple(parts[::2]), tuple(map(int, parts[1::2]))


def _as_runs(ranges: object) -> tuple[range, ...]:
    """Inclusive pairs [[first, last], …] as ranges; empty where they are not."""
    if not isinstance(ranges, list) or not all(map(is_pair, ranges)):
        return ()
    return tuple(range(first, last + 1) for first, last in ranges)


def _placeholders(count: int) -> str:
    numbered = ", ".join(f"{{{number}}}" for number in range(min(count, 3)))
    return f"each of {numbered}{', …' if count > 3 else ''} once" if count else "no placeholder"
