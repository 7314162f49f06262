"""What a file has, as far as a spec may ask."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fnmatch import translate
from typing import NamedTuple

from shardc.runtime.headers import Header


class Contents(NamedTuple):
    """The headers of a checkpoint by name; None where there is no file, which then has nothing."""

    headers: Mapping[str, Header] | None

    def has(self, name: str) -> bool:
        """Whether the file has a tensor of that name."""
        return self.headers is not None and name in self.headers

    def size(self, pattern: str, dim: int) -> tuple[str, int] | None:
        """A dim, as stored, of the first tensor whose name matches the glob, and in words where it is from."""
        headers = self.headers or {}
        end = pattern.rpartition("*")[2]
        matches = re.compile(translate(pattern)).match
        name = next((name for name in headers if name.endswith(end) and matches(name)), None)
        shape = headers[name].shape if name is not None else ()
        return (f"dim {dim} of {name}", shape[dim]) if dim < len(shape) else None
