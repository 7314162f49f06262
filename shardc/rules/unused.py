"""Config symbols, axes, lets and ignored names that nothing uses (SHD111): often a slip elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from shardc.diagnostics import Diagnostic, Label
from shardc.layout.errors import FormulaError
from shardc.layout.expr import Expr, names
from shardc.layout.parse import parse
from shardc.plan.evidence import Evidence
from shardc.plan.resolved import Resolved
from shardc.spec.library import fragment_file


def check(resolved: Resolved) -> Iterator[Diagnostic]:
    used = _used(resolved)
    spec = resolved.spec
    declared = (
        [("config", name) for name in spec.config] + [("axes", a) for a in spec.axes] + [("let", n) for n in spec.let]
    )
    for where, name in declared:
        if name not in used:
            label = Label(resolved.document.key(where, name))
            yield Diagnostic("SHD111", f"`{name}` is never used", label, help="remove it", severity="warning")


def unused_ignores(resolved: Resolved, recorded: Iterable[Evidence]) -> Iterator[Diagnostic]:
    """Ignored names that no recorded checkpoint has; none where no checkpoint has headers."""
    there = [evidence for evidence in recorded if evidence.headers is not None]
    for i, ignore in enumerate(resolved.spec.ignore):
        if there and not ignore.optional and not any(evidence.first_named(ignore.name) for evidence in there):
            label = Label(resolved.document.value("ignore", i, "name"))
            message = f"`{ignore.name}` is ignored, and no target's file has it"
            help = "remove it; or, if other releases have it, add `optional: true`"
            yield Diagnostic("SHD111", message, label, help=help, severity="warning")


def _used(resolved: Resolved) -> set[str]:
    """Every name that some formula mentions, whether or not the formula is used itself."""
    spec = resolved.spec
    texts: list[str | None] = [symbol.otherwise for symbol in spec.config.values()]
    texts += [*spec.let.values()]
    needed: set[str] = set()
    axes = list(spec.axes.values())
    for group in spec.groups.values():
        axes += group.axes.values()
        texts += [group.when, *group.let.values()]
        texts += [formula for loop in group.loops.values() for formula in (loop.of, loop.start, loop.stop)]
        for use in group.use:
            texts += use.given.values()
            needed |= set(fragment_file(use.fragment).needs) - use.given.keys()
        for tensor in group.tensors.values():
            texts += [*tensor.shape, tensor.when, tensor.tied_to.when if tensor.tied_to else None]
        for output in group.outputs.values():
            texts += [output.by, *(layout for member in output.members for layout in (member.origin, member.to))]
    for contract in spec.contracts:
        texts += [contract.when, *contract.given.values()]
    texts += [axis.size for axis in axes]
    found = set().union(*(_names(text) for text in texts if text is not None))
    return found | needed | {axis.within for axis in axes if axis.within}


def _names(text: str) -> set[str]:
    try:
        expr: Expr = parse(text)
    except FormulaError:
        return set()
    return names(expr)
