"""What `shardc shard` and `shardc reshard` share: their options, and cutting the ranks that are this process's."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click
from msgspec import Struct

from shardc.cli.mesh_options import by_name, check_mesh_dims
from shardc.cli.output import format_option
from shardc.cli.progress import progress_bar
from shardc.cli.torch_needed import needs_torch
from shardc.cli.values import as_ranges, bytes_of, ranks
from shardc.diagnostics import Diagnostic
from shardc.diagnostics.wording import plural
from shardc.emit.module import module
from shardc.plan.as_text import size
from shardc.plan.bound import bind
from shardc.plan.compile import compile_plan
from shardc.plan.evidence import Evidence
from shardc.plan.resolved import Resolved
from shardc.rules.meshes import mesh_findings

if TYPE_CHECKING:
    from shardc.store.cutter import Cutter, Written

F = TypeVar("F")


class Options(Struct, frozen=True):
    """Of the command line. mesh: the size of every mesh dim that was given; ranks: None for all."""

    out: Path
    mesh: Mapping[str, int]
    ranks: tuple[int, ...] | None
    jobs: int | None
    part_bytes: int
    naming: str


def cutting_options(command: F) -> F:
    """The options; the command gets `options`, and those of its own."""

    @functools.wraps(cast(Any, command))
    def with_options(
        out: Path, tp: int, ep: int, pp: int, others: Mapping[str, int], ranks_: list[int] | None, jobs: int | None,
        file_size: int, naming: str, **rest: Any,
    ) -> Any:  # fmt: skip
        mesh = {"tp": tp, "ep": ep, "pp": pp, **others}
        chosen = tuple(ranks_) if ranks_ is not None else None
        return cast(Any, command)(options=Options(out, mesh, chosen, jobs, file_size, naming), **rest)

    return cast(F, functools.reduce(lambda made, option: option(made), reversed(_OPTIONS), with_options))


def _sizes(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> dict[str, int]:
    """`attn_tp=8`, each mesh dim once."""
    return by_name(values, _size, "NAME=N")


def _size(text: str) -> int:
    found: int = click.IntRange(1, 9999)(text)
    return found


def _size_option(name: str, words: str) -> Callable[[Any], Any]:
    return click.option(
        f"--{name}", type=click.IntRange(1, 9999), default=1, show_default=True, help=f"{words}-parallel size."
    )


_OPTIONS: tuple[Callable[[Any], Any], ...] = (
    click.option(
        "-o", "--out", type=click.Path(path_type=Path, file_okay=False), required=True, help="The directory to write."
    ),
    _size_option("tp", "Tensor"),
    _size_option("ep", "Expert"),
    _size_option("pp", "Pipeline"),
    click.option(
        "--mesh", "others", callback=_sizes, multiple=True, metavar="NAME=N",
        help="Size of another mesh dim of the spec; may be repeated.",
    ),
    click.option(
        "--ranks", "ranks_", callback=lambda ctx, param, value: None if value is None else ranks(value),
        metavar="0-3,6", help="The world ranks to write; all, if not given.",
    ),
    click.option(
        "--jobs", type=click.IntRange(1), metavar="N",
        help="Ranks that are written at a time, each by a process; as many as there are cores, if not given. Under "
        "torchrun or SLURM, whose processes share the ranks, one each.",
    ),
    click.option(
        "--file-size", callback=lambda ctx, param, value: bytes_of(value), default="5GB", show_default=True,
        metavar="SIZE", help="Largest file, unless one tensor is larger.",
    ),
    click.option(
        "--naming", type=click.Choice(["shardc", "vllm"]), default="shardc", show_default=True,
        help="Of the files: rank-0/model-00001-of-00002.safetensors, or model-rank-0-part-0.safetensors.",
    ),
    format_option,
)  # fmt: skip


def mesh_faults(spec: Resolved, evidence: Evidence, sizes: Mapping[str, int]) -> list[Diagnostic]:
    """What forbids to cut a checkpoint for a mesh. Raises UsageError for mesh dims that the spec does not have."""
    check_mesh_dims(spec, sizes)
    mesh = {dim: sizes.get(dim, 1) for dim in spec.mesh_dims}
    bound = bind(spec, evidence)
    return mesh_findings(bound, [(mesh, compile_plan(bound, mesh))])


@needs_torch
def cut(spec: Resolved, origin: Path, options: Options, keep_ignored: bool = True) -> str:
    """Writes the ranks that are asked of this process; what was done, in words. Raises ShardError and UsageError."""
    from shardc.store.cutter import Cutter, Order
    from shardc.store.work import default_jobs, share, work

    naming = cast(Any, options.naming)
    order = Order(module(spec), origin, options.out, options.mesh, options.part_bytes, naming, keep_ignored)
    cutter = Cutter(order)
    wanted = list(range(cutter.planner.ranks)) if options.ranks is None else list(options.ranks)
    if max(wanted) >= cutter.planner.ranks:
        raise click.UsageError(f"rank {max(wanted)} is outside 0..{cutter.planner.ranks - 1}")
    try:
        mine, launched = share(wanted, os.environ)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    folders = cutter.folders(mine)
    cutter.planner.shards(0)
    large = cutter.begin()
    jobs = options.jobs or (1 if launched else default_jobs(len(folders)))
    with progress_bar("cutting", lambda: sum(map(cutter.bytes_of, folders))) as progress:
        written = work(functools.partial(Cutter, order), folders, min(jobs, max(len(folders), 1)), progress)
    return _summary(cutter, mine, written, large)


def _summary(cutter: Cutter, mine: list[int], written: list[Written], large: list[str]) -> str:
    out = cutter.order.out
    files, total = sum(one.files for one in written), sum(one.bytes for one in written)
    kept = sum(one.kept for one in written)
    lines = [f"{out}: {plural(len(mine), 'rank')} of {cutter.planner.ranks}, {plural(files, 'file')}, {size(total)}"]
    if kept:
        lines[0] += f"; {size(kept)} of it was there already"
    missing = cutter.missing()
    if missing:
        lines.append(f"still to be written: ranks {as_ranges(missing)}")
    if large:
        lines.append(f"not copied, too large for a file beside weights: {', '.join(large)}")
    return "\n".join(lines)
