"""The two sides of `shardc diff`: spec files and recorded checkpoints, of a commit or of a folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePosixPath

import click
from msgspec import Struct

from shardc.checkpoint import TABLE_SUFFIXES, table_name
from shardc.review import git

_SPEC = ".yaml"
_RECORDED = "checkpoints"


class Side(Struct, frozen=True):
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


def commit_of(ref: str) -> tuple[Path, str | None]:
    """The top of the repository around the current folder, and the commit that `ref` names in it, if there is one.

    Raises GitError where there is no repository.
    """
    top = git.top_of(Path())
    return top, git.commit_of(ref, top)


def of_commit(ref: str, commit: str, paths: tuple[Path, ...], top: Path, into: Path) -> Side:
    """The same of a commit, which was given as `ref`, written to `into`; GitError where git can't give the files."""
    wanted = [PurePosixPath(_below(path, top)) for path in paths]
    folders = {path.parent if path.suffix == _SPEC else path for path in wanted}
    found = git.write_files(commit, top, sorted(folders), (_SPEC, *TABLE_SUFFIXES), into)
    here = [path for path in found if path.suffix != _SPEC or any(_holds(one, path) for one in wanted)]
    return Side(*_sorted_out({path: into / path for path in here}), ref, into)


def _sorted_out(files: Mapping[PurePosixPath, Path]) -> tuple[dict[str, Path], dict[str, Path]]:
    """Specs by path, and recorded checkpoints by name."""
    specs = {str(path): file for path, file in files.items() if path.suffix == _SPEC}
    tables = [path for path in files if path.parent.name == _RECORDED and path.name.endswith(TABLE_SUFFIXES)]
    return specs, {table_name(files[path]): files[path] for path in tables}


def _holds(wanted: PurePosixPath, path: PurePosixPath) -> bool:
    return wanted in (path, PurePosixPath(".")) or wanted in path.parents


def _below(path: Path, top: Path) -> str:
    try:
        return path.resolve().relative_to(top.resolve()).as_posix()
    except ValueError:
        raise click.UsageError(f"{path} is outside {top}") from None
    except RuntimeError:  # What Python 3.11 and 3.12 raise for a ring of links.
        raise click.UsageError(f"{path} is a link to itself") from None
