"""The format that a tensor is stored in, as the dtypes in the file's headers tell it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from shardc.runtime.errors import Finding, ShardError
from shardc.runtime.headers import Header
from shardc.runtime.settling import Extent, Facts, settled_parts, shape_of
from shardc.runtime.tensors import DENSE, Family, Format, Formats, Part, Tensor

Headers = Mapping[str, Header]


class Stored(NamedTuple):
    """One file tensor of a tensor. `part`: None for a dense one. `shape`: the file's; None where there is no file."""

    name: str
    dtype: str
    part: Part | None
    shape: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Way:
    """How tensors are stored: their format, and the (dtype, part, shape) of each of their file tensors."""

    format: str
    parts: tuple[tuple[str, Part | None, tuple[int, ...] | None], ...]


class Choice(NamedTuple):
    """The names of a tensor's file tensors, and how they are stored; a way is one object for all that share it."""

    names: tuple[str, ...]
    way: Way

    @property
    def format(self) -> str:
        """The format of the tensor."""
        return self.way.format

    @property
    def stored(self) -> tuple[Stored, ...]:
        """Its file tensors."""
        return tuple(Stored(name, *part) for name, part in zip(self.names, self.way.parts, strict=True))


class Candidate(NamedTuple):
    """A name and the dtypes under which the file would hold a tensor, or the first part of it, in one format."""

    format: str
    name: str
    dtypes: tuple[str, ...]


def choice_of(format: str, stored: Iterable[Stored]) -> Choice:
    """The choice of one tensor by itself."""
    names, *parts = zip(*stored, strict=True)
    return Choice(names, Way(format, tuple(zip(*parts, strict=True))))


def choose(tensor: Tensor, formats: Formats, headers: Headers | None, facts: Mapping[str, Facts]) -> Choice | None:
    """The first of the tensor's formats that fits the file, best with all its parts; None where it has none of them.

    Without headers: the first format it lists, each part in its first dtype, optional parts and tied tensors absent.
    Raises SHD401 (a companion is missing) and SHD404 (a dtype fits no format).
    """
    if headers is None:
        return None if tensor.family.tied_to else first_choice(tensor, formats, facts)
    fitting = [
        candidate
        for candidate in candidates(tensor, formats)
        if (header := headers.get(candidate.name)) and header.dtype in candidate.dtypes
    ]
    if fitting:
        chosen = best(fitting, tensor, formats, headers, facts)
        if chosen.format == DENSE:
            header = headers[chosen.name]
            return choice_of(DENSE, [Stored(tensor.name, header.dtype, None, header.shape)])
        parts = parts_of(tensor, formats[chosen.format], headers, facts[chosen.format])
        return with_companions(tensor, chosen, parts, headers)
    if any(name in headers for name in file_names(tensor, formats)):
        raise ShardError(no_fit(tensor, formats, headers))
    return None


def candidates(tensor: Tensor, formats: Formats) -> Iterator[Candidate]:
    """The formats of a tensor, in the order in which it lists them."""
    for name in tensor.family.formats:
        if name == DENSE:
            yield Candidate(DENSE, tensor.name, tensor.family.dtype)
        else:
            first = formats[name].parts[0]
            yield Candidate(name, first.named(tensor.stem), first.dtypes)


def best(
    fitting: list[Candidate], tensor: Tensor, formats: Formats, headers: Headers, facts: Mapping[str, Facts]
) -> Candidate:
    """The first candidate whose parts are all there and of the right size; else of the right number of dims, or there.

    AWQ and GPTQ, for one, have the same names and dtypes, and differ in the dim that is packed.
    """
    if len(fitting) == 1:
        return fitting[0]
    parts = {
        one.format: parts_of(tensor, formats[one.format], headers, facts[one.format]) if one.format != DENSE else ()
        for one in fitting
    }
    complete = [one for one in fitting if all(is_there(part, tensor, headers) for part in parts[one.format])]
    exact = [one for one in complete if all(is_exact(part, tensor, headers) for part in parts[one.format])]
    pointed = [one for one in fitting if any(part.named(tensor.stem) in headers for part in parts[one.format][1:])]
    return (exact or complete or pointed or fitting)[0]


def is_there(part: Part, tensor: Tensor, headers: Headers) -> bool:
    """Whether the file has the part, in its dtype and with as many dims; an optional one may be absent."""
    header = headers.get(part.named(tensor.stem))
    if header is None:
        return part.optional
    dims = len(header.shape) == tensor.family.leading + len(part.dims) if part.dims else header.shape in ((), (1,))
    return header.dtype in part.dtypes and dims


def is_exact(part: Part, tensor: Tensor, headers: Headers) -> bool:
    """Whether a part, where the file has it, has its sizes."""
    header = headers.get(part.named(tensor.stem))
    return (
        header is None
        or not part.dims
        or header.shape[tensor.family.leading :] == shape_of(part, extent_of(tensor.family))
    )


def parts_of(tensor: Tensor, format: Format, headers: Headers | None, facts: Facts) -> tuple[Part, ...]:
    """The parts of a format, with the sizes that this tensor's headers imply."""
    if not format.sizes and not format.flags:
        return format.parts
    found = [headers.get(part.named(tensor.stem)) if headers else None for part in format.parts]
    return settled_parts(
        format, facts, extent_of(tensor.family), tuple(header.shape if header else None for header in found)
    )


def extent_of(family: Family) -> Extent:
    """A weight's sizes, as formats see them."""
    roles = family.roles
    return Extent(family.shape[roles["out"]], family.shape[roles["in"]], family.leading)


def first_choice(tensor: Tensor, formats: Formats, facts: Mapping[str, Facts]) -> Choice:
    """The format a tensor lists first, as if the file were yet to be written."""
    family = tensor.family
    name = family.formats[0]
    if name == DENSE:
        return choice_of(DENSE, [Stored(tensor.name, family.dtype[0], None)])
    parts = [part for part in parts_of(tensor, formats[name], None, facts[name]) if not part.optional]
    return choice_of(name, [Stored(part.named(tensor.stem), part.dtypes[0], part) for part in parts])


def with_companions(tensor: Tensor, chosen: Candidate, parts: tuple[Part, ...], headers: Headers) -> Choice:
    """All parts of the chosen format. Raises SHD401 and SHD404 for those that the file lacks or that do not fit."""
    stem = tensor.stem
    stored: list[Stored] = []
    findings: list[Finding] = []
    for part in parts:
        name = part.named(stem)
        header = headers.get(name)
        if header and header.dtype in part.dtypes:
            stored.append(Stored(name, header.dtype, part, header.shape))
        elif header:
            findings.append(dtype_finding(name, header, [Candidate(chosen.format, name, part.dtypes)]))
        elif not part.optional:
            found = f"{chosen.name} is {headers[chosen.name].dtype} ({chosen.format})"
            findings.append(("SHD401", f"{name} is missing: {found}"))
    if findings:
        raise ShardError(*findings)
    return choice_of(chosen.format, stored)


def no_fit(tensor: Tensor, formats: Formats, headers: Headers) -> Finding:
    """Why none of a tensor's formats fits a file that has something of it."""
    possible = list(candidates(tensor, formats))
    for candidate in possible:
        if candidate.name in headers:
            same_name = [other for other in possible if other.name == candidate.name]
            return dtype_finding(candidate.name, headers[candidate.name], same_name)
    return missing_finding(tensor, formats)


def dtype_finding(name: str, header: Header, legal: list[Candidate]) -> Finding:
    """SHD404: the dtype in the file, and those that would do."""
    words = ", ".join(f"{dtype} ({candidate.format})" for candidate in legal for dtype in candidate.dtypes)
    return ("SHD404", f"{name} is {header.dtype}; legal: {words}")


def missing_finding(tensor: Tensor, formats: Formats) -> Finding:
    """SHD401 for a tensor that must be in the file."""
    return ("SHD401", f"{next(candidates(tensor, formats)).name} is missing")


def file_names(tensor: Tensor, formats: Formats) -> list[str]:
    """Every name that the file may use for a tensor, in any of its formats."""
    parts = [part.named(tensor.stem) for name in tensor.family.formats if name != DENSE for part in formats[name].parts]
    return [tensor.name, *parts] if DENSE in tensor.family.formats else parts
