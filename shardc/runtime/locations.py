"""Where a checkpoint is: what is asked of a directory and its files, on this machine or in a store."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import IO, Any, Literal, Protocol, Self


class Location(Protocol):
    """A directory or a file, as pathlib has it. Raises OSError, whose `strerror` says why."""

    @property
    def name(self) -> str:
        """The last part of the path."""

    @property
    def suffix(self) -> str:
        """What ends the name, from its last dot on."""

    def __truediv__(self, name: str, /) -> Self:
        """What is called so in this directory."""

    def __lt__(self, other: Any, /) -> bool:
        """In the order of the paths."""

    def is_file(self) -> bool:
        """True where there is a file."""

    def glob(self, pattern: str, /) -> Iterable[Self]:
        """What this directory has by such names."""

    def read_bytes(self) -> bytes:
        """All of a file."""

    def open(self, mode: Literal["rb"], /) -> AbstractContextManager[IO[bytes]]:
        """The file, to be read from its start."""
