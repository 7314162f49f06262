"""From the tensors of a pass to the shards of a rank: regions of every dim, of every part."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from shardc.runtime.choices import Choice, Stored
from shardc.runtime.collector import collector_at_rest
from shardc.runtime.companions import check_nested, companion_size, companion_spans
from shardc.runtime.errors import Finding, ShardError
from shardc.runtime.regions import Spans, local_size, normalise, whole_dim
from shardc.runtime.shards import Shard
from shardc.runtime.tensors import Part, Tensor

Choices = Mapping[str, Choice | None]


class Layout(NamedTuple):
    """Full shape, the spans of each dim, and what the rank has instead of the file's elements, if anything."""

    shape: tuple[int, ...]
    at: tuple[Spans, ...]
    values: tuple[int, ...] | None = None


@collector_at_rest()
def cut(tensors: Iterable[Tensor], choices: Choices) -> list[Shard]:
    """The shards of one rank, in the order of its tensors; those that the file lacks are left out.

    Tensors that are alike share their shapes and spans: of 100,000 tensors, a few hundred layouts are worked out.
    Raises SHD212 and SHD213 with every part that cannot be cut.
    """
    shards: list[Shard] = []
    findings: list[Finding] = []
    layouts: dict[object, dict[int, Layout]] = {}
    for tensor in tensors:
        choice = choices[tensor.name]
        if choice is None:
            continue
        dims = (tensor.at, tensor.segments, tensor.nested)
        alike = (tensor.shape, tensor.swapped, choice.format, *(tuple(by_dim.items()) for by_dim in dims))
        known = layouts.setdefault(alike, {})
        for stored in choice.stored:
            key = id(stored.part)
            try:
                layout = known.get(key) or known.setdefault(key, layout_of(tensor, stored))
            except ShardError as error:
                findings += error.findings
            else:
                shards.append(shard(tensor, choice.format, stored, layout))
    if findings:
        raise ShardError(*findings)
    return shards


def shard(tensor: Tensor, format: str, stored: Stored, layout: Layout) -> Shard:
    """One shard; a scalar has the shape that the file gives it."""
    shape, at, values = layout
    part = stored.part
    if shape == () and stored.scalar == (1,):
        shape, at = (1,), (whole_dim(1),)
    return Shard(
        stored.name,
        "replicated" if part and not part.dims else tensor.kind,
        format,
        stored.dtype,
        part.dtypes if part else tensor.dtype,
        None if part else tensor.load,
        shape,
        at,
        tensor.optional or bool(part and part.optional),
        tensor.tied_to,
        values,
    )


def layout_of(tensor: Tensor, stored: Stored) -> Layout:
    """Full shape and spans of one file tensor of a tensor."""
    spans = tuple(
        normalise(tensor.at[dim]) if dim in tensor.at else whole_dim(size) for dim, size in enumerate(tensor.shape)
    )
    if stored.part is None:
        return Layout(tensor.shape, spans)
    shape, at = part_layout(tensor, spans, stored.part, stored.name)
    return Layout(shape, at, values_of(tensor, spans, stored.part))


def part_layout(
    tensor: Tensor, spans: tuple[Spans, ...], part: Part, name: str
) -> tuple[tuple[int, ...], tuple[Spans, ...]]:
    """Full shape and spans of a part: leading dims as the weight's, its own dims in their units."""
    if not part.dims:
        return (), ()
    shape, at = list(tensor.shape[: tensor.leading]), list(spans[: tensor.leading])
    for follows in part.dims:
        if follows.role is None:
            shape.append(int(follows.entries))
            at.append(whole_dim(shape[-1]))
            continue
        dim = tensor.roles[follows.role]
        segments = tensor.segments.get(dim, (tensor.shape[dim],))
        shape.append(companion_size(name, segments, follows))
        check_nested(name, tensor.nested.get(dim, ()), int(follows.unit))
        at.append(whole_dim(shape[-1]) if follows.whole else companion_spans(name, dim, spans[dim], segments, follows))
    return tuple(shape), tuple(at)


def values_of(tensor: Tensor, spans: tuple[Spans, ...], part: Part | None) -> tuple[int, ...] | None:
    """The local sizes of the weight that a part holds; None for one that is read from the file."""
    if part is None or not part.values:
        return None
    return tuple(local_size(spans[tensor.roles[role]]) for role in part.values)
