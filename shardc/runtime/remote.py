"""Checkpoints in stores that fsspec reads: object stores, web servers, model hubs. fsspec is imported only for them."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from fnmatch import fnmatchcase
from functools import cached_property
from importlib import import_module
from pathlib import Path, PurePosixPath
from typing import IO, Any, Literal

from shardc.runtime.errors import ShardError
from shardc.runtime.locations import Location

HEAD = 128 << 10  # bytes that are fetched where a file is opened: most headers are shorter
ONLY_FILE = "model.safetensors"  # of a checkpoint of one file


class RemotePath:
    """A path in a store, to be read as pathlib's are. shown: the same as the caller wrote it."""

    def __init__(self, system: Any, path: str, shown: str) -> None:
        self.system = system
        self.path = path
        self.shown = shown

    def __str__(self) -> str:
        return self.shown

    def __truediv__(self, name: str) -> RemotePath:
        return RemotePath(self.system, f"{self.path}/{name}", f"{self.shown}/{name}")

    def __lt__(self, other: RemotePath) -> bool:
        return self.path < other.path

    @property
    def name(self) -> str:
        """The last part of the path."""
        return PurePosixPath(self.path).name

    @property
    def suffix(self) -> str:
        """What ends the name, from its last dot on."""
        return PurePosixPath(self.path).suffix

    @cached_property
    def listed(self) -> list[str]:
        """The names in this directory, in order. Where a store can't list, the usual name of an only file is tried.

        Whatever else is wrong then comes up as that file is asked for.
        """
        try:
            names = sorted(PurePosixPath(path).name for path in self.system.ls(self.path, detail=False))
        except Exception:
            names = []
        if not fnmatches(names, "*.safetensors") and (self / ONLY_FILE).is_file():
            names.append(ONLY_FILE)
        return names

    def glob(self, pattern: str) -> Iterator[RemotePath]:
        """What this directory has by such names."""
        return (self / name for name in fnmatches(self.listed, pattern))

    def is_file(self) -> bool:
        """True where there is a file. Raises SHD406 where the store does not say."""
        try:
            with as_os_errors():
                return bool(self.system.info(self.path)["type"] != "directory")
        except FileNotFoundError:
            return False
        except OSError as error:
            raise ShardError(("SHD406", f"{self}: {error.strerror}")) from error

    def read_bytes(self) -> bytes:
        """All of a file. Raises OSError."""
        with as_os_errors():
            return bytes(self.system.cat_file(self.path))

    @contextmanager
    def open(self, mode: Literal["rb"]) -> Iterator[IO[bytes]]:
        """The file, its first bytes fetched at once. Raises OSError, then and as it is read."""
        with as_os_errors(), self.system.open(self.path, mode, block_size=HEAD, cache_type="readahead") as file:
            yield file

    def fetch(self, begin: int, end: int) -> bytes:
        """Bytes begin .. end in one request, by several threads at once; fewer where the file ends. Raises OSError."""
        with as_os_errors():
            if fetches_ranges(self.system):
                return bytes(self.system.cat_file(self.path, start=begin, end=end))
            with self.system.open(self.path, "rb", cache_type="none") as file:
                file.seek(begin)
                return bytes(file.read(end - begin))


def fnmatches(names: list[str], pattern: str) -> list[str]:
    """The names of a pattern."""
    return [name for name in names if fnmatchcase(name, pattern)]


def fetches_ranges(system: Any) -> bool:
    """Whether a store has a way of its own to fetch ranges. The common one opens the file, and reads ahead."""
    common = import_module("fsspec").AbstractFileSystem.cat_file
    return getattr(system.cat_file, "__func__", None) is not common


@contextmanager
def as_os_errors() -> Iterator[None]:
    """Whatever a store's client raises inside comes out as an OSError that says what it was."""
    try:
        yield
    except Exception as error:
        raise os_error(error) from error


def os_error(error: Exception) -> OSError:
    """An OSError that says what another error was, on one line. No file is missing where a store can't be reached."""
    cause = error.__cause__
    if isinstance(error, FileNotFoundError):
        if not isinstance(cause, OSError) or isinstance(cause, FileNotFoundError):
            return FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        return os_error(cause)
    if isinstance(error, OSError) and error.strerror:
        return OSError(error.errno or errno.EIO, error.strerror)
    return OSError(errno.EIO, " ".join(f"{type(error).__name__}: {error}".rstrip(": ").split()))


def location_of(checkpoint: str, filesystem: Any, storage_options: Mapping[str, Any] | None) -> Location:
    """Where a checkpoint is: a path in `filesystem`, a URL, or a path of this machine. Raises SHD113: no such store."""
    if filesystem is None and "://" not in checkpoint:
        return Path(checkpoint)
    try:
        system, path = filesystem, checkpoint
        if filesystem is None:
            system, path = import_module("fsspec").core.url_to_fs(checkpoint, **storage_options or {})
        system.invalidate_cache(path)
    except Exception as error:
        raise ShardError(("SHD113", f"{checkpoint}: {why_not_opened(error)}")) from error
    return RemotePath(system, path.rstrip("/"), checkpoint.rstrip("/"))


def why_not_opened(error: Exception) -> str:
    """Why there is no such store, in words, and what to do."""
    if isinstance(error, ModuleNotFoundError) and error.name == "fsspec":
        return "it is read with fsspec, which is not installed: pip install fsspec, and what it needs for this store"
    return str(os_error(error).strerror)


def file_of(directory: Location, file: str) -> Location:
    """The file of a checkpoint that a header names."""
    return Path(file) if isinstance(directory, Path) else directory / file.removeprefix(f"{directory}/")
