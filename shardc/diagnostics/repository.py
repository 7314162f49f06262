"""Where the files of findings stand in a repository: what pull requests and code scanning name files by."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

from msgspec import Struct


class Repository(Struct, frozen=True):
    """A repository's root, an absolute path without links."""

    root: Path

    @classmethod
    def around(cls, folder: Path, workspace: str = "") -> Repository:
        """The nearest folder, from `folder` upwards, that git keeps a repository in.

        Where there is none: `workspace` (the folder that a CI job works in) if `folder` is in it, or `folder` itself.
        """
        here = folder.resolve()
        for at in (here, *here.parents):
            if (at / ".git").exists():
                return cls(at)
        outer = Path(workspace).resolve() if workspace else here
        return cls(outer if here.is_relative_to(outer) else here)

    def path(self, file: str) -> str | None:
        """The path from the root, with `/` and links followed; None for "" and for a file that is not in here."""
        resolved = Path(file).resolve()
        if not file or not resolved.is_relative_to(self.root):
            return None
        return resolved.relative_to(self.root).as_posix()

    def uri(self, file: str) -> str:
        """The same as a relative URI; `file:///…` for a file elsewhere."""
        path = self.path(file)
        return Path(file).resolve().as_uri() if path is None else quote(path, errors="surrogateescape")
