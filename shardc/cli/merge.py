"""`shardc merge`"""

from __future__ import annotations

import functools
from pathlib import Path

import click
from msgspec import Struct

from shardc.cli.output import HELP, format_option
from shardc.cli.progress import progress_bar
from shardc.cli.torch_needed import needs_torch, reported
from shardc.diagnostics.wording import plural
from shardc.plan.as_text import size

#: What a directory of torch.distributed.checkpoint has.
_DCP = ".metadata"


class _Asked(Struct, frozen=True):
    directory: Path
    out: Path
    jobs: int | None

    def at_a_time(self, units: int) -> int:
        """How many units are written at a time."""
        from shardc.store.work import default_jobs

        return min(self.jobs or default_jobs(units), max(units, 1))


@click.command("merge", context_settings=HELP)
@click.argument("directory", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option(
    "-o", "--out", type=click.Path(path_type=Path, file_okay=False), required=True, help="The directory to write."
)
@click.option(
    "--layout", type=click.Choice(["safetensors", "dcp"]), default="safetensors", show_default=True,
    help="The original's files, or those of torch.distributed.checkpoint, a file a rank.",
)  # fmt: skip
@click.option("--prefix", default="", metavar="TEXT", help="Of a DCP checkpoint: what names begin with, left out.")
@click.option("--jobs", type=click.IntRange(1), metavar="N", help="Files that are written at a time.")
@format_option
def command(directory: Path, out: Path, layout: str, prefix: str, jobs: int | None, format_: str) -> None:
    """Put the ranks' files of DIRECTORY together again: the original's files, byte for byte.

    Tensors that several ranks have are compared, and padding has to be zero. DIRECTORY may also be a checkpoint of
    torch.distributed.checkpoint (DCP), which becomes one of whole tensors in safetensors.
    """
    if out.is_dir() and any(out.iterdir()):
        raise click.UsageError(f"{out} is not empty: give a new directory")
    is_dcp = (directory / _DCP).is_file() and not (directory / "shardc.json").is_file()
    if is_dcp and layout == "dcp":
        raise click.UsageError(f"{directory} is a DCP checkpoint already")
    if prefix and not is_dcp:
        raise click.UsageError("--prefix is for a DCP checkpoint")
    asked = _Asked(directory, out, jobs)
    if is_dcp:
        reported(lambda: _imported(asked, prefix), directory, format_)
    reported(lambda: _exported(asked) if layout == "dcp" else _merged(asked), directory, format_)


@needs_torch
def _merged(asked: _Asked) -> str:
    from shardc.store.merger import Merger
    from shardc.store.work import work

    merger = Merger(asked.directory, asked.out)
    files = merger.files()
    merger.begin()
    with progress_bar("merging", lambda: sum(map(merger.bytes_of, files))) as progress:
        make = functools.partial(Merger, asked.directory, asked.out)
        written = work(make, files, asked.at_a_time(len(files)), progress)
    merger.finish()
    ranks = plural(merger.ranked.ranks, "rank")
    return f"{asked.out}: {ranks} merged to {plural(len(files), 'file')}, {size(sum(written))}; replicas are equal"


@needs_torch
def _exported(asked: _Asked) -> str:
    from shardc.store.dcp_export import DcpExporter
    from shardc.store.work import work

    exporter = DcpExporter(asked.directory, asked.out)
    folders = exporter.folders()
    exporter.begin()
    with progress_bar("exporting", exporter.bytes_of_all) as progress:
        make = functools.partial(DcpExporter, asked.directory, asked.out)
        written = work(make, folders, asked.at_a_time(len(folders)), progress)
    exporter.finish(written)
    ranks = plural(exporter.ranked.ranks, "rank")
    return f"{asked.out}: {ranks} as a DCP checkpoint, {plural(len(folders), 'file')}, {size(exporter.bytes_of_all())}"


@needs_torch
def _imported(asked: _Asked, prefix: str) -> str:
    from shardc.store.dcp_import import DcpImporter
    from shardc.store.work import work

    importer = DcpImporter(asked.directory, asked.out, prefix)
    files = importer.files()
    importer.begin()
    with progress_bar("importing", lambda: sum(map(importer.bytes_of, files))) as progress:
        make = functools.partial(DcpImporter, asked.directory, asked.out, prefix)
        written = work(make, files, asked.at_a_time(len(files)), progress)
    importer.finish()
    tensors = plural(len(importer.tensors), "tensor")
    left = f"; {plural(len(importer.others), 'name')} left out" if importer.others else ""
    return f"{asked.out}: {tensors} of a DCP checkpoint in {plural(len(files), 'file')}, {size(sum(written))}{left}"
