"""The `outputs` of a group: their members found among its tensors, and what they say of rows checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches

from msgspec import Struct

from shardc.diagnostics import Diagnostic, Label
from shardc.layout.errors import FormulaError
from shardc.layout.expr import INDEX, Expr, Name
from shardc.layout.permutation import Run, factors, permutation
from shardc.plan.formulas import Formulas
from shardc.plan.kinds import axes_in
from shardc.plan.resolved import Axis, Entry, Member, Output
from shardc.source import Path_
from shardc.spec.group import Group
from shardc.spec.outputs import Member as MemberField
from shardc.spec.outputs import Output as OutputField


class OutputReader(Struct, frozen=True):
    """Reads outputs against the entries of their group."""

    formulas: Formulas
    symbols: set[str]
    axes: Mapping[str, Axis]
    lets: Mapping[str, Expr]

    def read(self, name: str, group: Group, source: Group, path: Path_, entries: list[Entry]) -> list[Output]:
        """`group` gives the place, `source` (at `path`) tensors and outputs; they differ under `like`."""
        by_key = {str(entry.path[-1]): entry for entry in entries}
        found = (self._output(name, group, key, field, path, by_key) for key, field in source.outputs.items())
        return [output for output in found if output is not None]

    def _output(
        self, name: str, group: Group, key: str, field: OutputField, path: Path_, entries: Mapping[str, Entry]
    ) -> Output | None:
        """None where something of it is wrong, which is then reported."""
        here = (*path, "outputs", key)
        before = len(self.formulas.findings)
        members = [self._member(one, where, entries) for one, where in _places(field, here)]
        prefix = self._prefix(group, field.stack, (*here, "stack"), entries.values())
        pattern = f"{prefix}.{key}" if prefix else key
        self._check_indices(pattern, key, group, field.stack, here)
        known = [member for member in members if member is not None]
        if field.by is not None:
            self._check_interleaved(field.by, known, (*here, "by"))
        if len(self.formulas.findings) > before:
            return None
        return Output(name, pattern, here, tuple(known), field.by, field.stack)

    def _member(self, field: MemberField, path: Path_, entries: Mapping[str, Entry]) -> Member | None:
        named = (*path, "permute") if (*path, "permute") in self.formulas.document.values else path
        entry = entries.get(field.permute)
        if entry is None:
            near = get_close_matches(field.permute, sorted(entries), n=1)
            label = Label(self.formulas.document.value(*named), f"did you mean `{near[0]}`?" if near else "")
            help = f"tensors of the group: {', '.join(entries) or 'none'}"
            self._report(Diagnostic("SHD103", f"unknown tensor `{field.permute}`", label, help=help))
            return None
        if field.origin is None or field.to is None:
            return Member(entry, named)
        return self._permuted(entry, field.origin, field.to, path)

    def _permuted(self, entry: Entry, origin: str, to: str, path: Path_) -> Member | None:
        if entry.out_dim is None:
            message = f"`{entry.path[-1]}` is a scalar: it has no rows to permute"
            self._report(Diagnostic("SHD230", message, Label(self.formulas.document.value(*path, "permute"))))
            return None
        layouts = [self._layout(text, (*path, field), entry) for field, text in (("from", origin), ("to", to))]
        first, second = layouts
        if first is None or second is None:
            return None
        try:
            runs: tuple[Run, ...] = permutation(first, second, self._axes_of(entry).keys())
        except FormulaError as error:
            label = Label(self.formulas.document.value(*path, "to"))
            self._report(Diagnostic(error.code, error.message, label, help=error.help))
            return None
        return Member(entry, path, first, second, runs)

    def _layout(self, text: str, path: Path_, entry: Entry) -> Expr | None:
        """A layout with its lets written out; None where something is wrong with it."""
        before = len(self.formulas.findings)
        lets = {**self.lets, **entry.lets}
        axes = self._axes_of(entry)
        expr = self.formulas.read(text, path)
        known = {*self.symbols, *(loop.index for loop in entry.loops), *axes, *lets}
        layout = self.formulas.written_out(expr, lets, path)
        if self.formulas.check_names(expr, path, known, "config symbols, indices, axes and lets"):
            self.formulas.check_shape(layout, path, axes)
        return layout if len(self.formulas.findings) == before else None

    def _axes_of(self, entry: Entry) -> Mapping[str, Axis]:
        return {**self.axes, **entry.axes}

    def _prefix(self, group: Group, stack: str | None, path: Path_, entries: Iterable[Entry]) -> str:
        """The group's place; for a stacked output, without the index at its end."""
        at = group.at or ""
        if stack is None:
            return at
        label = Label(self.formulas.document.value(*path))
        if stack not in group.loops:
            help = f"indices: {', '.join(group.loops) or 'none'}"
            self._report(Diagnostic("SHD103", f"unknown index `{stack}`", label, help=help))
        elif any(loop.index == stack and loop.axis is None for entry in entries for loop in entry.loops):
            message = f"`{stack}` runs over a count: only the elements of an axis are dealt and stacked"
            help = f"let it run over an axis: `for: {{{stack}: experts}}`"
            self._report(Diagnostic("SHD230", message, label, help=help))
        return "" if at == f"{{{stack}}}" else at.removesuffix(f".{{{stack}}}")

    def _check_indices(self, pattern: str, key: str, group: Group, stack: str | None, here: Path_) -> None:
        """The name has every index of the group but the one that is stacked."""
        label = Label(self.formulas.document.key(*here))
        used = set(INDEX.findall(pattern))
        if stack in used & group.loops.keys():
            message = f"`{pattern}` uses the index `{stack}`, which it stacks: it is one tensor for all of them"
            self._report(Diagnostic("SHD105", message, label, help=f"let `at:` end in `.{{{stack}}}`, or not have it"))
        for index in sorted(group.loops.keys() - used - {stack}):
            message = f"`{pattern}` does not use the index `{index}`: it would be built once for each"
            self._report(Diagnostic("SHD105", message, label, help=f"put `{{{index}}}` into its name, or stack it"))
        for index in sorted(set(INDEX.findall(key)) - group.loops.keys()):
            message = f"`{key}` uses the index `{index}`, which the group does not have"
            help = f"indices: {', '.join(group.loops) or 'none'}"
            self._report(Diagnostic("SHD103", message, label, help=help))

    def _check_interleaved(self, by: str, members: list[Member], path: Path_) -> None:
        """Every member's output dim is the axis, or one within it, times a number of rows."""
        for member in members:
            axes = self._axes_of(member.entry)
            if by not in axes:
                label = Label(self.formulas.document.value(*path))
                help = f"axes: {', '.join(axes) or 'none'}"
                self._report(Diagnostic("SHD103", f"unknown axis `{by}`", label, help=help))
                return
            if element_axis(member.entry, by, axes) is None:
                label = Label(self.formulas.document.value(*member.path), f"{member.entry.formula}")
                message = f"the rows of `{member.entry.path[-1]}` are not dealt by {by}"
                help = f"its output dim has to be {by}, or an axis within it, times a number of rows"
                self._report(Diagnostic("SHD230", message, label, help=help))

    def _report(self, finding: Diagnostic) -> None:
        self.formulas.findings.append(finding)


def element_axis(entry: Entry, by: str, axes: Mapping[str, Axis]) -> str | None:
    """The axis of an output dim that is nothing but an axis, at or within `by`, times rows; None for another dim."""
    if entry.out_dim is None:
        return None
    first, *rest = factors(entry.dims[entry.out_dim])
    if not isinstance(first, Name) or first.id not in axes or any(axes_in(factor, axes) for factor in rest):
        return None
    here: str | None = first.id
    while here is not None and here != by:
        here = axes[here].within
    return first.id if here else None


def _places(field: OutputField, here: Path_) -> list[tuple[MemberField, Path_]]:
    """The members, each with its place in the spec."""
    if field.permute is not None:
        return [(field.members[0], here)]
    form = "concat" if field.concat is not None else "interleave"
    return [(member, (*here, form, i)) for i, member in enumerate(field.members)]
