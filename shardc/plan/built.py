"""The outputs of a bound spec: which tensors each is built of, by name, and what forbids it whatever the mesh."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct, field

from shardc.layout.errors import FormulaError
from shardc.layout.normal_form import NormalForm, normal_form
from shardc.layout.show import show
from shardc.plan.families import ranges_of
from shardc.plan.family import Family
from shardc.plan.resolved import FormatPart, Member, Output
from shardc.plan.stored import StoredPart

#: Tensors that a message names before it only counts them.
_NAMED = 3


class Build(Struct, frozen=True):
    """One output by name. `slices` has the members' names, for each stacked element; one slice where nothing is."""

    name: str
    slices: tuple[tuple[str, ...], ...]


class Built(Struct, frozen=True):
    """Outputs that are built alike: of tensors of these families, one for each member."""

    output: Output
    families: tuple[Family, ...]
    builds: tuple[Build, ...]

    @property
    def parts(self) -> int:
        """How many stored tensors each member has; as many tensors has the output."""
        return len(self.families[0].stored.parts)


class BuildFault(Struct, frozen=True):
    """Why an output can't be built, in the words of a generated module."""

    output: Output
    name: str
    code: str
    message: str


class Outputs(Struct):
    """All outputs of a bound spec, and those that can't be built."""

    built: list[Built] = field(default_factory=list)
    faults: list[BuildFault] = field(default_factory=list)


def build(outputs: Iterable[Output], families: Iterable[Family], values: Mapping[str, object]) -> Outputs:
    """Every output of this config whose tensors are there. FormulaError where an index has no range."""
    found = Outputs()
    by_entry: dict[int, list[Family]] = {}
    for family in families:
        by_entry.setdefault(id(family.entry), []).append(family)
    for output in outputs:
        owners = [
            {name: family for family in by_entry.get(id(member.entry), ()) for name in family.names}
            for member in output.members
        ]
        alike: dict[tuple[int, ...], tuple[tuple[Family, ...], list[Build]]] = {}
        for one in _builds(output, values):
            here = _families(output, one, owners, found.faults)
            if here is not None:
                alike.setdefault(tuple(map(id, here)), (here, []))[1].append(one)
        for here, builds in alike.values():
            fault = _misfit(output, builds[0], here)
            if fault is None:
                found.built.append(Built(output, here, tuple(builds)))
            else:
                found.faults.append(fault)
    return found


def _builds(output: Output, values: Mapping[str, object]) -> Iterator[Build]:
    ranges = ranges_of(output.members[0].entry, values)
    indices = [loop.index for loop in output.loops]
    elements = ranges[output.stack] if output.stack else range(1)
    for at in itertools.product(*(ranges[index] for index in indices)):
        env = dict(zip(indices, at, strict=True))
        slices = []
        for element in elements:
            here = {**env, output.stack: element} if output.stack else env
            slices.append(tuple(member.entry.pattern.format_map(here) for member in output.members))
        yield Build(output.pattern.format_map(env), tuple(slices))


def _families(
    output: Output, one: Build, owners: list[dict[str, Family]], faults: list[BuildFault]
) -> tuple[Family, ...] | None:
    """The family of each member; None where none is there, or something is wrong, which is then a fault."""
    placed = [(name, owners[i].get(name)) for names in one.slices for i, name in enumerate(names)]
    members = [(name, family) for name, family in placed if family is not None]
    if not members:
        return None
    absent = [name for name, family in placed if family is None]
    if absent:
        faults.append(BuildFault(output, one.name, "SHD401", partly(one.name, [m for m, _ in members], absent)))
        return None
    mixed = _mixed(one.name, members)
    if mixed is not None:
        faults.append(BuildFault(output, one.name, *mixed))
        return None
    first, *others = (tuple(owners[i][name] for i, name in enumerate(names)) for names in one.slices)
    if any(list(map(id, other)) != list(map(id, first)) for other in others):
        message = f"{one.name}: what it stacks differs in shape from one {output.stack} to another"
        faults.append(BuildFault(output, one.name, "SHD230", message))
        return None
    return first


def _mixed(name: str, members: list[tuple[str, Family]]) -> tuple[str, str] | None:
    """Code and message where the members do not come in one format and dtype, part by part."""
    ways: dict[str, list[str]] = {}
    for member, family in members:
        stored = family.stored
        ways.setdefault(f"{stored.parts[0].load} ({stored.format.name})", []).append(member)
    if len(ways) > 1:
        return "SHD420", several(name, ways)
    for part in members[0][1].stored.format.parts[1:]:
        found = [(part.named(member), _part(family, part)) for member, family in members]
        dtypes: dict[str, list[str]] = {}
        for stored_name, stored_part in found:
            if stored_part is not None:
                dtypes.setdefault(stored_part.load, []).append(stored_name)
        if len(dtypes) > 1:
            return "SHD420", several(part.named(name), dtypes)
        absent = [stored_name for stored_name, stored_part in found if stored_part is None]
        if absent and dtypes:
            return "SHD401", partly(part.named(name), [here for names in dtypes.values() for here in names], absent)
    return None


def _part(family: Family, part: FormatPart) -> StoredPart | None:
    return next((stored for stored in family.stored.parts if stored.part is part), None)


def _misfit(output: Output, one: Build, families: tuple[Family, ...]) -> BuildFault | None:
    """Members that do not fit beside each other, or a permutation that does not speak of its tensor's rows."""
    entries = [family.entry for family in families]
    for name, entry, family in zip(one.slices[0], entries, families, strict=True):
        if (entry.out_dim, _beside(family)) != (entries[0].out_dim, _beside(families[0])):
            two = f"{one.slices[0][0]} {entries[0].formula} and {name} {entry.formula}"
            message = f"{one.name}: {two} do not fit together along dim {entries[0].out_dim or 0}"
            return BuildFault(output, one.name, "SHD230", message)
    for name, member, family in zip(one.slices[0], output.members, families, strict=True):
        fault = _unlike(member, family)
        if fault is not None:
            return BuildFault(output, one.name, fault[0], f"{name}: {fault[1]}")
    return None


def _beside(family: Family) -> list[NormalForm]:
    """How the dims are cut beside the output dim."""
    out_dim = family.entry.out_dim
    return [normal_form(dim, family.scope) for i, dim in enumerate(family.entry.dims) if i != out_dim]


def _unlike(member: Member, family: Family) -> tuple[str, str] | None:
    """Code and words where the `from` of a permutation is not the tensor's output dim."""
    out_dim = member.entry.out_dim
    if member.origin is None or out_dim is None:
        return None
    try:
        if normal_form(member.origin, family.scope) == normal_form(member.entry.dims[out_dim], family.scope):
            return None
    except FormulaError as error:
        if error.code != "SHD103":
            return error.code, error.message
    return "SHD230", f"`{show(member.origin)}` does not cut its {family.shape[out_dim]} rows as its shape does"


def partly(output: str, present: list[str], absent: list[str]) -> str:
    """Words for an output of which the file has a part only."""
    return f"{output} would be built of {listed(present)} without {listed(absent)}"


def several(output: str, ways: Mapping[str, list[str]]) -> str:
    """Words for an output whose members come in several ways."""
    members = "; ".join(f"{listed(names)} in {way}" for way, names in ways.items())
    return f"{output} would be of several dtypes: {members}"


def listed(names: list[str]) -> str:
    """At most three names, and how many more there are."""
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")
