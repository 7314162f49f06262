"""`shardc merge`"""

from __future__ import annotations

import functools
from pathlib import Path

import click

from shardc.cli.output import HELP, format_option
from shardc.cli.progress import progress_bar
from shardc.cli.torch_needed import needs_torch, reported
from shardc.diagnostics.wording import plural
from shardc.plan.as_text import size


@click.command("merge", context_settings=HELP)
@click.argument("directory", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option(
    "-o", "--out", type=click.Path(path_type=Path, file_okay=False), required=True, help="The directory to write."
)
@click.option("--jobs", type=click.IntRange(1), metavar="N", help="Files that are written at a time.")
@format_option
def command(directory: Path, out: Path, jobs: int | None, format_: str) -> None:
    """Put the ranks' files of DIRECTORY together again: the original's files, byte for byte.

    Tensors that several ranks have are compared, and padding has to be zero.
    """
    if out.is_dir() and any(out.iterdir()):
        raise click.UsageError(f"{out} is not empty: give a new directory")
    reported(lambda: _merged(directory, out, jobs), format_)


@needs_torch
def _merged(directory: Path, out: Path, jobs: int | None) -> str:
    from shardc.store.merger import Merger
    from shardc.store.work import default_jobs, work

    merger = Merger(directory, out)
    files = merger.files()
    merger.begin()
    with progress_bar("merging", lambda: sum(map(merger.bytes_of, files))) as progress:
        jobs = min(jobs or default_jobs(len(files)), max(len(files), 1))
        written = work(functools.partial(Merger, directory, out), files, jobs, progress)
    merger.finish()
    ranks = plural(merger.ranked.ranks, "rank")
    return f"{out}: {ranks} merged to {plural(len(files), 'file')}, {size(sum(written))}; replicas are equal"
