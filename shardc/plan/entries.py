"""The groups of a spec to entries: one for each tensor that is written down, with its loops and conditions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct

from shardc.diagnostics import Diagnostic, Label
from shardc.layout.expr import INDEX, Expr, Name, substitute
from shardc.plan.axes import read_axes
from shardc.plan.formats import format_named
from shardc.plan.formulas import BROKEN, Formulas
from shardc.plan.kinds import axes_in, derive, words_of
from shardc.plan.resolved import Axis, Entry, Format, Loop, Tie
from shardc.plan.stages import Ends
from shardc.plan.written import Written, keys_of, written_tensors
from shardc.source import Path_
from shardc.spec.fields import End
from shardc.spec.group import Group, Tensor
from shardc.spec.library import format_names
from shardc.spec.model import Spec


class _Place(Struct, frozen=True):
    """What all tensors of one group share."""

    name: str
    prefix: str
    path: Path_
    loops: tuple[Loop, ...]
    when: tuple[Expr, ...]
    axes: Mapping[str, Axis]
    own_axes: Mapping[str, Axis]
    lets: Mapping[str, Expr]
    own_lets: Mapping[str, Expr]
    on: Ends


class EntryReader(Struct, frozen=True):
    """Reads groups against the names that a spec declares."""

    spec: Spec
    formulas: Formulas
    symbols: set[str]
    axes: Mapping[str, Axis]
    lets: Mapping[str, Expr]

    def read(self, name: str, group: Group, source: Group, path: Path_) -> list[Entry]:
        """`group` gives the place, `source` (at `path`) the tensors; they differ under `like`."""
        here: Path_ = ("groups", name)
        indices = set(group.loops)
        numbers = self.symbols | indices
        own_axes = read_axes(source.axes, (*path, "axes"), numbers, self.axes, self.formulas)
        axes = {**self.axes, **own_axes}
        read = {let: self.formulas.read(text, (*path, "let", let)) for let, text in source.let.items()}
        for let, expr in read.items():
            known = {*numbers, *axes, *self.lets, *read}
            self.formulas.check_names(expr, (*path, "let", let), known, "config symbols, indices, axes and lets")
        own_lets = self.formulas.expand(
            {let: self.formulas.written_out(expr, self.lets, (*path, "let", let)) for let, expr in read.items()},
            (*path, "let"),
        )
        lets = {**self.lets, **own_lets}
        when = self._condition(group.when, (*here, "when"), numbers)
        prefix = f"{group.at}." if group.at else ""
        loops, on = self._loops(group, here, axes), _ends(group.on)
        place = _Place(name, prefix, path, loops, when, axes, own_axes, lets, own_lets, on)
        if not (source.tensors or source.use) and group.like is None:
            label = Label(self.formulas.document.key(*here))
            help = "give it `tensors:` or `use:`, or take over another group's with `like:`"
            self.formulas.findings.append(Diagnostic("SHD101", f"group `{name}` has no tensors", label, help=help))
        written = written_tensors(source, path, {*numbers, *axes, *lets}, self.formulas)
        self._check_indices(group, source, here, path)
        return [self._entry(one, place) for one in written]

    def _loops(self, group: Group, here: Path_, axes: Mapping[str, Axis]) -> tuple[Loop, ...]:
        loops: list[Loop] = []
        for index, loop in group.loops.items():
            path: Path_ = (*here, "for", index)
            start = self.formulas.read(loop.start, path)
            stop = self.formulas.read(loop.stop, path) if loop.stop is not None else None
            selecting = self._known_axis(loop.of, path, axes)
            if loop.of is None and isinstance(stop, Name) and stop.id in axes:
                selecting, stop = axes[stop.id], None
            for expr in (start, stop):
                if expr is not None:
                    self.formulas.check_names(expr, path, self.symbols, "config symbols, or one axis alone,")
            if selecting is None:
                loops.append(Loop(index, start, stop or BROKEN, None))
                continue
            self._check_selecting(selecting.name, loops, path, axes)
            loops.append(Loop(index, start, stop or selecting.size, selecting.name, selecting.size))
        return tuple(loops)

    def _known_axis(self, name: str | None, path: Path_, axes: Mapping[str, Axis]) -> Axis | None:
        """The axis that an index says it is `of`."""
        if name is not None and name not in axes:
            label = Label(self.formulas.document.value(*path, "of"))
            help = f"axes: {', '.join(sorted(axes)) or 'none'}"
            self.formulas.findings.append(Diagnostic("SHD103", f"unknown axis `{name}`", label, help=help))
        return axes.get(name) if name is not None else None

    def _check_selecting(self, axis: str, loops: list[Loop], path: Path_, axes: Mapping[str, Axis]) -> None:
        """A rank's part of two axes of one mesh dim would be the names on a diagonal."""
        for other in (loop.axis for loop in loops if loop.axis):
            if axes[other].over == axes[axis].over:
                message = f"{axes[axis].over} would split the names twice ({other}, {axis})"
                label = Label(self.formulas.document.value(*path))
                help = "let one of the indices run over a plain number"
                self.formulas.findings.append(Diagnostic("SHD205", message, label, help=help))

    def _condition(
        self, text: str | None, path: Path_, numbers: set[str], given: Mapping[str, Expr] | None = None
    ) -> tuple[Expr, ...]:
        if text is None:
            return ()
        expr = substitute(self.formulas.read(text, path), given or {})
        return (expr,) if self.formulas.check_names(expr, path, numbers, "config symbols and indices") else ()

    def _entry(self, one: Written, place: _Place) -> Entry:
        tensor, path = one.tensor, one.path
        indices = {loop.index for loop in place.loops}
        numbers = self.symbols | indices
        written, dims = [], []
        for i, text in enumerate(tensor.shape):
            expr = substitute(self.formulas.read(text, (*path, "shape", i)), one.given)
            known = {*numbers, *place.axes, *place.lets}
            expanded = self.formulas.canonical(self.formulas.written_out(expr, place.lets, (*path, "shape", i)))
            if self.formulas.check_names(expr, (*path, "shape", i), known, "config symbols, indices, axes and lets"):
                self.formulas.check_shape(expanded, (*path, "shape", i), place.axes)
            written.append(expr)
            dims.append(expanded)
        loop_axes = tuple(loop.axis for loop in place.loops if loop.axis)
        self._check_mesh(tuple(dims), loop_axes, place.axes, path)
        swapped = tensor.dims == ["in", "out"]
        derived = derive(tuple(dims), loop_axes, place.axes, swapped)
        if swapped and len(dims) - derived.leads != 2:
            message = f"`dims: [in, out]` orders two dims, and this tensor has {len(dims) - derived.leads}"
            label = Label(self.formulas.document.value(*path, "dims"))
            help = "experts (or ones) may stand before the two; other tensors have one order"
            self.formulas.findings.append(Diagnostic("SHD101", message, label, help=help))
        rule = tensor.dtype or self.spec.dtype
        pattern = place.prefix + one.key
        return Entry(
            group=place.name,
            pattern=pattern,
            path=path,
            dims=tuple(dims),
            written=tuple(written),
            loops=place.loops,
            when=(*place.when, *self._condition(tensor.when, (*path, "when"), numbers, one.given)),
            axes=place.own_axes,
            lets=place.own_lets,
            kind=self._kind(one, loop_axes, place),
            derived=derived.kind,
            leads=derived.leads,
            swapped=swapped,
            dtypes=tuple(rule.file),
            load=rule.load,
            own_dtype=tensor.dtype is not None,
            formats=self._formats(one, len(dims) - derived.leads),
            optional=tensor.optional,
            tie=self._tie(tensor, path),
            collective=tensor.collective,
            on=place.on if tensor.on is None else _ends(tensor.on),
        )

    def _tie(self, tensor: Tensor, path: Path_) -> Tie | None:
        if tensor.tied_to is None:
            return None
        when = self._condition(tensor.tied_to.when, (*path, "tied_to", "when"), self.symbols)
        return Tie(tensor.tied_to.name, when[0] if when else None)

    def _kind(self, one: Written, loop_axes: tuple[str, ...], place: _Place) -> str:
        """The written kind; a fragment's tensors are slices of an expert where the group runs over experts."""
        kind = " + ".join(words_of(one.tensor.shard))
        sliced = any(place.axes[axis].role == "experts" for axis in loop_axes)
        return f"expert_slices + {kind}" if one.use and sliced else kind

    def _formats(self, one: Written, rank: int) -> tuple[Format, ...]:
        formats = []
        for name, path in self._format_names(one):
            label = Label(self.formulas.document.value(*path))
            if name not in format_names():
                sets = "".join(f", {name}" for name in self.spec.formats)
                help = f"formats: {', '.join(format_names())}; sets: linear{sets}"
                self.formulas.findings.append(Diagnostic("SHD106", f"unknown format `{name}`", label, help=help))
                continue
            format = format_named(name)
            if format.parts and rank != 2:
                message = f"`{name}` stores a weight of two dims, `out` and `in`, not {rank}"
                self.formulas.findings.append(Diagnostic("SHD106", message, label))
                continue
            formats.append(format)
        return tuple(dict.fromkeys(formats)) or (format_named("dense"),)

    def _format_names(self, one: Written) -> Iterator[tuple[str, Path_]]:
        """The formats that a tensor may come in, its sets written out, and where each of them stands."""
        sets = {"linear": ["dense"], **self.spec.formats}
        words: list[str] = one.tensor.formats
        path: Path_ = (*one.path, "formats")
        if one.use and one.use.formats and words == ["linear"]:
            words, path = one.use.formats, (*one.path[:-2], "formats")
        for i, word in enumerate(words):
            for member in sets.get(word, [word]):
                yield member, (*path, i)

    def _check_indices(self, group: Group, source: Group, here: Path_, path: Path_) -> None:
        """Names use the indices of their group, all of them and no others; what is wrong in `at` is said once."""
        document = self.formulas.document
        indices, placed = set(group.loops), set(INDEX.findall(group.at or ""))
        for index in sorted(indices & {*source.let, *source.axes}) if source is not group else ():
            label = Label(document.key(*here, "for", index), f"also in `{path[1]}`, which `like` takes over")
            message = f"the name `{index}` is given twice"
            self.formulas.findings.append(Diagnostic("SHD105", message, label, help="rename one"))
        self._unknown_indices(placed - indices, group.at or "", Label(document.value(*here, "at")))
        used = {key: set(INDEX.findall(key)) for key in keys_of(source)}
        for key, own in used.items():
            self._unknown_indices(own - indices - placed, key, Label(document.key(*path, "tensors", key)))
        for index in sorted(indices - placed):
            unused = [key for key, own in used.items() if index not in own]
            if unused:
                message = f"`{unused[0]}` does not use the index `{index}`: it would be claimed once for each"
                label = Label(document.key(*path, "tensors", unused[0]))
                help = f"put `{{{index}}}` into `at:` or into its name"
                finding = Diagnostic("SHD105", message, label, help=help, same_cause=tuple(unused[1:]))
                self.formulas.findings.append(finding)

    def _unknown_indices(self, unknown: set[str], name: str, label: Label) -> None:
        for index in sorted(unknown):
            message = f"`{{{index}}}` in `{name}` is no index of its group"
            help = f"say what it runs over: `for: {{{index}: …}}`"
            self.formulas.findings.append(Diagnostic("SHD103", message, label, help=help))

    def _check_mesh(
        self, dims: tuple[Expr, ...], loop_axes: tuple[str, ...], axes: Mapping[str, Axis], path: Path_
    ) -> None:
        """One mesh dim splits one dim of a tensor; splitting two would leave each rank a diagonal block."""
        used: dict[str, str] = {axes[axis].over: f"the names ({axis})" for axis in loop_axes}
        for i, dim in enumerate(dims):
            for over in sorted({axes[axis].over for axis in axes_in(dim, axes)}):
                if over in used:
                    message = f"{over} would split both {used[over]} and dim {i} ({axes_in(dim, axes)[0]})"
                    label = Label(self.formulas.document.value(*path, "shape", i))
                    help = "let another mesh dim split one of them (`over:`), or keep one whole"
                    self.formulas.findings.append(Diagnostic("SHD205", message, label, help=help))
                used.setdefault(over, f"dim {i} ({axes_in(dim, axes)[0]})")


def _ends(on: Mapping[str, list[End]]) -> Ends:
    return {over: tuple(ends) for over, ends in on.items()}
