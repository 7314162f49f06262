"""The files of a commit, written to a folder, as git has them."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

#: Modes of plain files; links and submodules are no specs.
_PLAIN = ("100644", "100755")
_SECONDS = 120


class GitError(Exception):
    """Why git could not give the files, in its own words."""


def top_of(folder: Path) -> Path:
    """The repository that a folder is in; GitError where it is in none."""
    return Path(_text(_git(folder, "rev-parse", "--show-toplevel")))


def commit_of(ref: str, repository: Path) -> str | None:
    """The commit that `ref` names, in full; `REF...` is where HEAD left it. None where there is no such commit.

    `...` alone, git's word for HEAD, is none: it is what is left of `$BASE...` where no base is set.
    """
    try:
        if ref.endswith("..."):
            return _text(_git(repository, "merge-base", "--end-of-options", ref.removesuffix("..."), "HEAD"))
        return _text(_git(repository, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}"))
    except GitError:
        return None


def write_files(
    commit: str, repository: Path, folders: Iterable[PurePosixPath], suffixes: tuple[str, ...], into: Path
) -> list[PurePosixPath]:
    """Write the commit's files in `folders` that end in one of `suffixes`, at the same paths below `into`.

    Folders and the paths it gives are relative to the repository. A folder that the commit lacks has no files.
    Raises GitError, and OSError if a file can't be written.
    """
    below = [str(folder) for folder in folders]
    listed = _git(repository, "ls-tree", "-r", "-z", "--full-tree", commit, "--", *below)
    blobs = {path: blob for path, blob in _entries(listed) if path.name.endswith(suffixes)}
    for path, data in zip(blobs, _contents(repository, list(blobs.values())), strict=True):
        target = into / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    return list(blobs)


def _entries(listed: bytes) -> Iterator[tuple[PurePosixPath, bytes]]:
    """Path and blob of each plain file that `ls-tree -z` lists."""
    for line in filter(None, listed.split(b"\0")):
        about, _, name = line.partition(b"\t")
        mode, _, blob = about.split(b" ")
        if mode.decode() in _PLAIN:
            yield PurePosixPath(name.decode("utf-8", "surrogateescape")), blob


def _contents(repository: Path, blobs: list[bytes]) -> Iterator[bytes]:
    """What `cat-file --batch` gives: for each blob a line `name kind size`, its bytes, and a line break."""
    given = _git(repository, "cat-file", "--batch", stdin=b"\n".join([*blobs, b""]))
    at = 0
    for _ in blobs:
        end = given.index(b"\n", at)
        size = int(given[at:end].split(b" ")[2])
        yield given[end + 1 : end + 1 + size]
        at = end + 1 + size + 1


def _text(output: bytes) -> str:
    return output.decode("utf-8", "surrogateescape").strip()


def _git(folder: Path, *arguments: str, stdin: bytes = b"") -> bytes:
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=folder, input=stdin, capture_output=True, timeout=_SECONDS, check=False
        )
    except FileNotFoundError:
        raise GitError("git is not installed") from None
    except subprocess.TimeoutExpired:
        raise GitError(f"git {arguments[0]} took over {_SECONDS} s") from None
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip()
        raise GitError(said or f"git {arguments[0]}: exit code {done.returncode}")
    return done.stdout
