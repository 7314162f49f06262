"""A store of files in memory, as fsspec's backends are written, that remembers which bytes were asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fsspec import AbstractFileSystem
from fsspec.spec import AbstractBufferedFile


class Store(AbstractFileSystem):
    """Files by path. asked: (file's name, first byte, byte after the last) of each request for content."""

    protocol = "store"
    cachable = False

    def __init__(self, files: dict[str, bytes] | None = None) -> None:
        super().__init__()
        self.files = files or {}
        self.asked: list[tuple[str, int | None, int | None]] = []

    def ls(self, path: str, detail: bool = True, **_: Any) -> list[Any]:
        head = self._strip_protocol(path) + "/"
        found = [
            {"name": name, "size": len(content), "type": "file"}
            for name, content in self.files.items()
            if name.startswith(head)
        ]
        if not found:
            raise FileNotFoundError(path)
        return found if detail else [entry["name"] for entry in found]

    def cat_file(self, path: str, start: int | None = None, end: int | None = None, **_: Any) -> bytes:
        return self.content(path, start, end)

    def content(self, path: str, start: int | None, end: int | None) -> bytes:
        """Some bytes of a file."""
        if path not in self.files:
            raise FileNotFoundError(path)
        self.asked.append((Path(path).name, start, end))
        return self.files[path][start:end]

    def _open(self, path: str, mode: str = "rb", block_size: Any = None, **options: Any) -> StoreFile:
        options.pop("cache_options")
        return StoreFile(self, path, mode, block_size or "default", **options)


class StoreFile(AbstractBufferedFile):
    """A file that fetches what is read of it, and more where its cache says so."""

    def _fetch_range(self, start: int, end: int) -> bytes:
        content: bytes = self.fs.content(self.path, start, end)
        return content


class OpenOnly(Store):
    """A store that reads ranges only by way of its files."""

    cat_file = AbstractFileSystem.cat_file


def stored(directory: Path, kind: type[Store] = Store) -> Store:
    """A store that holds the files of a directory under `model/`."""
    return kind({f"model/{path.name}": path.read_bytes() for path in sorted(directory.iterdir())})
