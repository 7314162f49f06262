"""The two sides of `shardc diff`: spec files and recorded checkpoints, of a commit or of a folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import click

from shardc.review.git import GitError, commit_of, top_of, write_files

_SPEC = ".yaml"
_TABLES = (".json", ".json.gz")
_RECORDED = "checkpoints"


@dataclass(frozen=True)
class Side:
    """Spec files, by the path that both sides have them at, and recorded checkpoints by name.

    `written` is where a commit's files were written to; `ref` names the commit, "" for files as they are.
    """

    specs: Mapping[str, Path]
    tables: Mapping[str, Path]
    ref: str = ""
    written: Path = Path()

    def shown(self, path: Path) -> str:
        """`origin/main:specs/llama.yaml`, as git names it; of a folder, the path as it was given."""
        return f"{self.ref}:{path.relative_to(self.written).as_posix()}" if self.ref else str(path)


def of_folders(paths: tuple[Path, ...], top: Path) -> Side:
    """The files at `paths` (files, or folders searched to the bottom); a path that is not there has none.

    What a link in a folder shows of elsewhere is left out, as a commit has no more of it than the link.
    """
    inside = (file for path in paths if path.is_dir() for file in sorted(path.rglob("*")))
    found, root = [path for path in paths if not path.is_dir()], top.resolve()
    found += [file for file in inside if file.is_file() and file.resolve().is_relative_to(root)]
    beside = [table for path in paths if path.is_file() for table in sorted((path.parent / _RECORDED).glob("*"))]
    files = {_below(file, top): file for file in [*found, *beside] if file.is_file()}
    return Side(*_sorted_out({PurePosixPath(name): file for name, file in files.items()}))


def of_commit(ref: str, paths: tuple[Path, ...], into: Path) -> Side:
    """The same of a commit, written to `into`. Raises UsageError where git can't give them."""
    try:
        top = top_of(Path())
        commit = commit_of(ref, top)
        if commit is None:
            help = f"fetch it first, or write ./{ref} for a folder"
            raise click.UsageError(f"--against {ref}: neither a commit here nor a folder; {help}")
        wanted = [PurePosixPath(_below(path, top)) for path in paths]
        folders = {path.parent if path.suffix == _SPEC else path for path in wanted}
        found = write_files(commit, top, sorted(folders), (_SPEC, *_TABLES), into)
    except GitError as error:
        raise click.UsageError(f"--against {ref}: {error}") from None
    here = [path for path in found if path.suffix != _SPEC or any(_holds(one, path) for one in wanted)]
    return Side(*_sorted_out({path: into / path for path in here}), ref, into)


def repository() -> Path | None:
    """The top of the repository that the current folder is in; None where it is in none."""
    try:
        return top_of(Path())
    except GitError:
        return None


def is_commit(ref: str) -> bool:
    try:
        return commit_of(ref, top_of(Path())) is not None
    except GitError:
        return False


def _sorted_out(files: Mapping[PurePosixPath, Path]) -> tuple[dict[str, Path], dict[str, Path]]:
    """Specs by path, and recorded checkpoints by name."""
    specs = {str(path): file for path, file in files.items() if path.suffix == _SPEC}
    tables = [path for path in files if path.parent.name == _RECORDED and path.name.endswith(_TABLES)]
    return specs, {path.name.removesuffix(".gz").removesuffix(".json"): files[path] for path in tables}


def _holds(wanted: PurePosixPath, path: PurePosixPath) -> bool:
    return wanted in (path, PurePosixPath(".")) or wanted in path.parents


def _below(path: Path, top: Path) -> str:
    try:
        return path.resolve().relative_to(top.resolve()).as_posix()
    except ValueError:
        raise click.UsageError(f"{path} is outside {top}") from None
    except RuntimeError:  # What Python 3.11 and 3.12 raise for a ring of links.
        raise click.UsageError(f"{path} is a link to itself") from None
