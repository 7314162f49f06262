"""A Spec to a Resolved: formulas read, names known, `like` and `let` carried out, kinds derived."""

from __future__ import annotations

from collections.abc import Mapping

from shardc.diagnostics import Diagnostic, Label
from shardc.layout.expr import Expr, names
from shardc.layout.parse import parse
from shardc.plan.axes import read_axes
from shardc.plan.entries import EntryReader
from shardc.plan.formulas import Formulas
from shardc.plan.output_claims import check_claims
from shardc.plan.read_outputs import OutputReader
from shardc.plan.resolved import Axis, Contract, Entry, HeaderDim, Output, Resolved, Symbol, in_order
from shardc.plan.summed import summed_axes
from shardc.plan.written import keys_of
from shardc.source import Document, Path_
from shardc.spec.group import Group
from shardc.spec.library import contract_file, contract_names
from shardc.spec.model import Spec

#: Tensors and outputs that are written down, with those that `like` takes over.
MAX_ENTRIES = 5_000


def resolve(spec: Spec, document: Document) -> tuple[Resolved, list[Diagnostic]]:
    """Every formula of the spec, read and checked; what is broken is reported and replaced by 0."""
    formulas = Formulas(document)
    _check_distinct(spec, formulas)
    symbols = _symbols(spec, formulas)
    axes = read_axes(spec.axes, ("axes",), set(symbols), {}, formulas)
    lets = {name: formulas.read(text, ("let", name)) for name, text in spec.let.items()}
    for name, expr in lets.items():
        formulas.check_names(expr, ("let", name), {*symbols, *axes, *lets}, "config symbols, axes and other lets")
    lets = formulas.expand(lets, ("let",))
    reader = EntryReader(spec, formulas, set(symbols), axes, lets)
    entries: list[Entry] = []
    outputs: list[Output] = []
    for name, group in spec.groups.items():
        place = _source_group(spec, name, group, formulas)
        if len(entries) + len(outputs) + len(keys_of(place[1])) + len(place[1].outputs) > MAX_ENTRIES:
            message = f"with the tensors of `{name}` the spec has over {MAX_ENTRIES} entries"
            formulas.findings.append(Diagnostic("SHD005", message, Label(document.key("groups", name))))
            break
        here = reader.read(name, *place)
        entries += here
        outputs += OutputReader(formulas, set(symbols), axes, lets).read(name, *place, here)
    check_claims(outputs, entries, formulas)
    contracts = _contracts(spec, formulas, set(symbols), axes, lets)
    summed = summed_axes(entries, axes)
    found = Resolved(spec, document, symbols, axes, lets, tuple(entries), contracts, tuple(outputs), summed)
    return found, formulas.findings


def _check_distinct(spec: Spec, formulas: Formulas) -> None:
    """A name means one thing: config symbols, axes, lets and indices are distinct, and axes over all groups."""
    owners: dict[str, str] = dict.fromkeys(spec.config, "config")
    _claim((), {"axes": spec.axes, "let": spec.let}, owners, formulas)
    for group, field in spec.groups.items():
        local = dict(owners)
        _claim(("groups", group), {"for": field.loops, "axes": field.axes, "let": field.let}, local, formulas)
        owners |= {axis: f"groups.{group}.axes" for axis in field.axes if axis not in owners}


def _claim(path: Path_, parts: Mapping[str, Mapping[str, object]], owners: dict[str, str], formulas: Formulas) -> None:
    """The names declared in the `parts` of a spec or a group; `owners` has where each was given first."""
    for part, declared in parts.items():
        for name in declared:
            owner = owners.get(name)
            if owner is None:
                owners[name] = part
                continue
            label = Label(formulas.document.key(*path, part, name), f"also in `{owner}`")
            message = f"the name `{name}` is given twice"
            formulas.findings.append(Diagnostic("SHD105", message, label, help="rename one"))


def _symbols(spec: Spec, formulas: Formulas) -> dict[str, Symbol]:
    symbols: dict[str, Symbol] = {}
    otherwise = {
        name: formulas.read(symbol.otherwise, ("config", name, "else"))
        for name, symbol in spec.config.items()
        if symbol.otherwise is not None
    }
    for name, symbol in spec.config.items():
        path: Path_ = ("config", name)
        if name in otherwise:
            formulas.check_names(otherwise[name], (*path, "else"), spec.config, "config symbols")
        header = HeaderDim(symbol.tensor, symbol.dim) if symbol.tensor is not None else None
        symbols[name] = Symbol(name, tuple(symbol.key or ()), header, otherwise.get(name), path)
    formulas.expand(otherwise, ("config",), "else")
    return symbols


def _source_group(spec: Spec, name: str, group: Group, formulas: Formulas) -> tuple[Group, Group, Path_]:
    """The group's own place, and the group (and path) that gives its tensors: itself, or what `like` leads to."""
    seen = [name]
    source, path = group, ("groups", name)
    while source.like is not None:
        own = [part for part in ("tensors", "use", "let", "axes", "outputs") if getattr(source, part)]
        where: Path_ = (*path, "like")
        if own:
            message = f"`like` takes over the {own[0]} of {source.like}: {path[1]} has none of its own"
            label = Label(formulas.document.key(*path, own[0]))
            formulas.findings.append(Diagnostic("SHD101", message, label, help=f"take out `{own[0]}:`, or `like:`"))
        if source.like not in spec.groups:
            choices = ", ".join(sorted(spec.groups.keys() - {path[1]}))
            label = Label(formulas.document.value(*where))
            formulas.findings.append(
                Diagnostic("SHD103", f"unknown group `{source.like}`", label, help=f"groups: {choices}")
            )
            break
        if source.like in seen:
            ring = seen[seen.index(source.like) :]
            if name == min(ring):
                circle = " -> ".join((*ring, name))
                label = Label(formulas.document.value("groups", name, "like"))
                help = "let one of them have `tensors:` of its own"
                finding = Diagnostic("SHD107", f"`like` goes in a circle: {circle}", label, help=help)
                formulas.findings.append(finding)
            break
        seen.append(source.like)
        path = ("groups", source.like)
        source = spec.groups[source.like]
    return group, source, path


def _contracts(
    spec: Spec, formulas: Formulas, symbols: set[str], axes: Mapping[str, Axis], lets: Mapping[str, Expr]
) -> tuple[Contract, ...]:
    contracts = []
    for i, contract in enumerate(spec.contracts):
        path: Path_ = ("contracts", i)
        if contract.use not in contract_names():
            label = Label(formulas.document.value(*path, "use"))
            message = f"unknown contract `{contract.use}`"
            help = f"contracts: {', '.join(contract_names())}"
            formulas.findings.append(Diagnostic("SHD106", message, label, help=help))
            continue
        file = contract_file(contract.use)
        if set(contract.given) != set(file.parameters):
            label = Label(formulas.document.value(*path, "with"))
            message = (
                f"`{contract.use}` takes {', '.join(file.parameters)}, not {', '.join(contract.given) or 'nothing'}"
            )
            formulas.findings.append(Diagnostic("SHD101", message, label))
            continue
        written, given = {}, {}
        for name, text in contract.given.items():
            where = (*path, "with", name)
            written[name] = formulas.read(text, where)
            given[name] = formulas.written_out(written[name], lets, where)
            if formulas.check_names(written[name], where, {*symbols, *axes, *lets}, "config symbols, axes and lets"):
                formulas.check_measured(given[name], where, axes)
        when = formulas.read(contract.when, (*path, "when")) if contract.when is not None else None
        if when is not None:
            formulas.check_names(when, (*path, "when"), symbols, "config symbols")
        used = {axes[name].over for expr in given.values() for name in names(expr) & axes.keys()}
        over = in_order(used) or ("tp",)
        require = parse(file.require)
        contracts.append(Contract(contract.use, given, written, require, file.why, file.help, when, over, path))
    return tuple(contracts)
