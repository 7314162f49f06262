"""The members of an output as the file has them: all there or none, and all in one format and dtype."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from shardc.runtime.choices import Choice, Stored
from shardc.runtime.cutting import Choices
from shardc.runtime.errors import Finding, ShardError
from shardc.runtime.outputs import Output, by_name, name_of
from shardc.runtime.tensors import Part, Tensor, stem_of

NAMED = 3  # tensors that a text names before it only counts them


def whole_outputs(outputs: Iterable[Output], tensors: Iterable[Tensor], choices: Choices) -> list[Output]:
    """Those of which the file has every member; those of which it has none are left out.

    Raises SHD401 (it has some) and SHD420 (in several formats or dtypes), with every output at fault.
    """
    named = by_name(outputs)
    if not named:
        return []
    loads = {tensor.name: tensor.family.load for tensor in tensors}
    whole: list[Output] = []
    findings: list[Finding] = []
    for name, slices in named.items():
        members = [name_of(member) for output in slices for member in output.members]
        found = {member: choice for member in members if (choice := choices.get(member))}
        if not found:
            continue
        absent = [member for member in members if member not in found]
        faults = [partly(name, list(found), absent)] if absent else list(member_faults(name, found, loads))
        findings += faults[:1]
        whole += slices
    if findings:
        raise ShardError(*findings)
    return whole


def member_faults(name: str, members: Mapping[str, Choice], loads: Mapping[str, str | None]) -> Iterator[Finding]:
    """What forbids to put tensors into one: formats, the dtypes on the rank, and companions that some lack."""
    first = {member: choice.stored[0] for member, choice in members.items()}
    ways = {
        member: f"{loads[member] if stored.part is None and loads[member] else stored.dtype} ({members[member].format})"
        for member, stored in first.items()
    }
    yield from mixed(name, ways)
    parts = {stored.part: None for choice in members.values() for stored in choice.stored[1:] if stored.part}
    for part in parts:
        found = {member: part_of_choice(choice, part) for member, choice in members.items()}
        here = {stored.name: stored.dtype for stored in found.values() if stored}
        yield from mixed(part.named(stem_of(name)), here)
        absent = [part.named(stem_of(member)) for member, stored in found.items() if not stored]
        if absent:
            yield partly(part.named(stem_of(name)), list(here), absent)


def part_of_choice(choice: Choice, part: Part | None) -> Stored | None:
    """The file tensor that is this part."""
    return next((stored for stored in choice.stored if stored.part == part), None)


def partly(output: str, present: list[str], absent: list[str]) -> Finding:
    """SHD401 for an output of which there is only a part."""
    return ("SHD401", f"{output} would be built of {listed(present)} without {listed(absent)}")


def mixed(output: str, ways: Mapping[str, str]) -> Iterator[Finding]:
    """SHD420 where the members come in several ways: (format and) dtype by name."""
    members: dict[str, list[str]] = {}
    for name, way in ways.items():
        members.setdefault(way, []).append(name)
    if len(members) > 1:
        text = "; ".join(f"{listed(names)} in {way}" for way, names in members.items())
        yield ("SHD420", f"{output} would be of several dtypes: {text}")


def listed(names: list[str]) -> str:
    """At most three names, and how many more there are."""
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {more} more" if more > 0 else "")
