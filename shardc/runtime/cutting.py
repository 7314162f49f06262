"""From the tensors of a pass to the shards of a rank: regions of every dim, of every part."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache, partial

from shardc.runtime.choices import Choice, Stored, Way
from shardc.runtime.collector import collector_at_rest
from shardc.runtime.companions import check_nested, companion_size, companion_spans
from shardc.runtime.errors import Finding, ShardError
from shardc.runtime.regions import Spans, local_size, normalise, whole_dim
from shardc.runtime.shards import Layout, Shard
from shardc.runtime.tensors import Family, Part, Tensor

Choices = Mapping[str, Choice | None]


@collector_at_rest()
def cut(tensors: Iterable[Tensor], choices: Choices) -> list[Shard]:
    """The shards of one rank, in the order of its tensors; those that the file lacks are left out.

    Raises SHD212 and SHD213 with every part that cannot be cut.
    """
    names: list[str] = []
    layouts: list[Layout] = []
    for choice, alike in laid_out(tensors, choices):
        names += choice.names
        layouts += alike
    shard = partial(tuple.__new__, Shard)  # `Shard` itself takes three times as long
    return list(map(shard, zip(names, layouts, strict=True)))


def laid_out(tensors: Iterable[Tensor], choices: Choices) -> Iterator[tuple[Choice, list[Layout]]]:
    """For each tensor that the file has: its choice, and the layouts of its file tensors.

    Of 100,000 tensors, a few hundred are worked out. Raises, after the last, SHD212 and SHD213 with every part that
    cannot be cut.
    """
    findings: list[Finding] = []
    known: dict[tuple[Family, Way], list[Layout]] = {}
    for tensor in tensors:
        choice = choices[tensor.name]
        if choice is None:
            continue
        alike = known.get((tensor.family, choice.way))
        if alike is None:
            alike, faults = layouts_of(tensor.family, choice)
            if faults:
                findings += faults
                continue
            known[tensor.family, choice.way] = alike
        yield choice, alike
    if findings:
        raise ShardError(*findings)


def layouts_of(family: Family, choice: Choice) -> tuple[list[Layout], list[Finding]]:
    """The layouts of one tensor's parts, and what forbids to cut some of them."""
    layouts: list[Layout] = []
    findings: list[Finding] = []
    for stored in choice.stored:
        try:
            layouts.append(one_of_equal(layout_of(family, choice.format, stored)))
        except ShardError as error:
            findings += error.findings
    return layouts, findings


@lru_cache(maxsize=4096)
def one_of_equal(layout: Layout) -> Layout:
    """The first of equal layouts: one that is met again is known by its identity."""
    return layout


def layout_of(family: Family, format: str, stored: Stored) -> Layout:
    """The layout of one file tensor; a scalar has the shape that the file gives it. Raises SHD212 and SHD213."""
    part = stored.part
    spans = tuple(
        normalise(family.at[dim]) if dim in family.at else whole_dim(size) for dim, size in enumerate(family.shape)
    )
    shape, at = part_layout(family, spans, part, stored.name) if part else (family.shape, spans)
    if shape == () and stored.shape == (1,):
        shape, at = (1,), (whole_dim(1),)
    return Layout(
        "replicated" if part and not part.dims else family.kind,
        format,
        stored.dtype,
        part.dtypes if part else family.dtype,
        None if part else family.load,
        shape,
        at,
        family.optional or bool(part and part.optional),
        family.tied_to,
        values_of(family, spans, part),
    )


def part_layout(
    family: Family, spans: tuple[Spans, ...], part: Part, name: str
) -> tuple[tuple[int, ...], tuple[Spans, ...]]:
    """Full shape and spans of a part: leading dims as the weight's, its own dims in their units."""
    if not part.dims:
        return (), ()
    shape, at = list(family.shape[: family.leading]), list(spans[: family.leading])
    for follows in part.dims:
        if follows.role is None:
            shape.append(int(follows.entries))
            at.append(whole_dim(shape[-1]))
            continue
        dim = family.roles[follows.role]
        segments = family.segments.get(dim, (family.shape[dim],))
        shape.append(companion_size(name, segments, follows))
        check_nested(name, family.nested.get(dim, ()), int(follows.unit))
        at.append(whole_dim(shape[-1]) if follows.whole else companion_spans(name, dim, spans[dim], segments, follows))
    return tuple(shape), tuple(at)


def values_of(family: Family, spans: tuple[Spans, ...], part: Part | None) -> tuple[int, ...] | None:
    """The local sizes of the weight that a part holds; None for one that is read from the file."""
    if part is None or not part.values:
        return None
    return tuple(local_size(spans[family.roles[role]]) for role in part.values)
