"""Reading the formulas of a spec: each with its place, so that what is wrong is shown where it stands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches

from msgspec import Struct, field

from shardc.diagnostics import Diagnostic, Label
from shardc.layout.errors import FormulaError
from shardc.layout.expr import (
    Binary,
    Cat,
    Expr,
    Least,
    Local,
    Name,
    Num,
    Per,
    children,
    names,
    own_names,
    replace_nodes,
    substitute,
    walk,
)
from shardc.layout.extent import check_extent, extent
from shardc.layout.parse import parse
from shardc.layout.show import show
from shardc.plan.kinds import axes_in
from shardc.plan.resolved import Axis
from shardc.source import Document, Path_

#: Names that are not known are reported until there are so many findings.
MAX_FINDINGS = 200
#: What stands for a formula that could not be read, so that the rest can still be checked.
BROKEN = Num(0)
#: What may hold a `local(…)`.
_ARITHMETIC = (Binary, Least, Local)


class Formulas(Struct):
    """Reads formulas and collects findings. Equal trees are one object, so that work on them can be shared."""

    document: Document
    findings: list[Diagnostic] = field(default_factory=list)
    _canon: dict[Expr, Expr] = field(default_factory=dict)

    def read(self, text: str, path: Path_) -> Expr:
        try:
            return parse(text)
        except FormulaError as error:
            self.report(error, path)
            return BROKEN

    def canonical(self, expr: Expr) -> Expr:
        return self._canon.setdefault(expr, expr)

    def report(self, error: FormulaError, path: Path_) -> None:
        label = Label(self.document.inside(path, *error.at) if error.at != (0, 0) else self.document.value(*path))
        self.findings.append(Diagnostic(error.code, error.message, label, help=error.help))

    def check_names(self, expr: Expr, path: Path_, known: Iterable[str], what: str) -> bool:
        """Whether all names are known; `what` says what may stand here."""
        choices = set(known)
        unknown = sorted(names(expr) - choices)
        for name in unknown if len(self.findings) < MAX_FINDINGS else ():
            at = next(node.at for node in walk(expr) if name in own_names(node))
            near = get_close_matches(name, sorted(choices), n=1)
            label = Label(self.document.inside(path, *at), f"did you mean `{near[0]}`?" if near else "")
            self.findings.append(Diagnostic("SHD103", f"unknown name `{name}`", label, help=f"{what} may stand here"))
        return not unknown

    def expand(self, lets: Mapping[str, Expr], path: Path_, field: str = "let") -> dict[str, Expr]:
        """Lets with the lets in them substituted; a let that leads back to itself is SHD107, shown as the field's."""
        done: dict[str, Expr] = {}
        pending = dict(lets)
        while pending:
            ready = [name for name, expr in pending.items() if not names(expr) & pending.keys()]
            if not ready:
                ring = ", ".join(sorted(pending))
                label = Label(self.document.key(*path, min(pending)))
                help = "give one of them a value that does not lead back to it"
                self.findings.append(Diagnostic("SHD107", f"`{field}` goes in a circle: {ring}", label, help=help))
                return {**done, **dict.fromkeys(pending, BROKEN)}
            for name in ready:
                done[name] = self.written_out(pending.pop(name), done, (*path, name))
        return done

    def written_out(self, expr: Expr, lets: Mapping[str, Expr], path: Path_) -> Expr:
        """`expr` with its lets substituted; BROKEN, and SHD005, where that would be too large."""
        try:
            check_extent(extent(expr, {name: extent(lets[name]) for name in names(expr) & lets.keys()}))
        except FormulaError as error:
            self.report(error, path)
            return BROKEN
        return substitute(expr, lets)

    def check_shape(self, expr: Expr, path: Path_, axes: Mapping[str, Axis]) -> bool:
        """A layout in which nothing is local: a shape is that of the file, whatever the rank."""
        local = next((node for node in walk(expr) if isinstance(node, Local)), None)
        if local is not None:
            message = f"`{show(local)}` depends on the rank: it may stand in a contract, not in a shape"
            self.findings.append(Diagnostic("SHD203", message, Label(self.document.inside(path, *local.at))))
            return False
        return self.check_layout(expr, path, axes)

    def check_measured(self, expr: Expr, path: Path_, axes: Mapping[str, Axis]) -> bool:
        """A number in which layouts stand as `local(…)` only."""
        locals_ = [node for node in walk(expr) if isinstance(node, Local)]
        outside = replace_nodes(expr, dict.fromkeys(locals_, BROKEN))
        layout = next((n for n in walk(outside) if isinstance(n, (Cat, Per)) or names(n) & axes.keys()), None)
        if layout is not None:
            message = f"`{show(layout)}` is a layout: its size depends on the rank"
            label = Label(self.document.inside(path, *layout.at))
            help = f"write `local({show(layout)})`"
            self.findings.append(Diagnostic("SHD203", message, label, help=help))
            return False
        measured = next((n for n in walk(expr) if not isinstance(n, _ARITHMETIC) and _has_local(n)), None)
        if measured is not None:
            message = f"`{show(measured)}`: only arithmetic applies to `local(…)`"
            self.findings.append(Diagnostic("SHD203", message, Label(self.document.inside(path, *measured.at))))
            return False
        return self.check_layout(expr, path, axes)

    def check_layout(self, expr: Expr, path: Path_, axes: Mapping[str, Axis]) -> bool:
        """Only `*` and `|` apply to an axis, a product has one axis a mesh dim, and `per` stands in its parent's."""
        before = len(self.findings)
        self._check_arithmetic(expr, path, axes)
        if len(self.findings) == before:
            self._check_pers(expr, path, axes, ())
        if len(self.findings) == before:
            self._check_products(expr, path, axes)
        return len(self.findings) == before

    def _check_arithmetic(self, expr: Expr, path: Path_, axes: Mapping[str, Axis]) -> None:
        match expr:
            case Name() | Per():
                return
            case Cat() | Binary("*") | Local():
                for part in children(expr):
                    self._check_arithmetic(part, path, axes)
                return
        locals_ = [node for node in walk(expr) if isinstance(node, Local)]
        for local in locals_:
            self._check_arithmetic(local, path, axes)
        outside = replace_nodes(expr, dict.fromkeys(locals_, BROKEN))
        used = sorted(names(outside) & axes.keys())
        if used:
            message = f"`{show(expr)}`: only `*` and `|` apply to an axis, and {used[0]} is one"
            label = Label(self.document.inside(path, *expr.at))
            help = f"put {used[0]} in a segment of its own (`a | b`), or use the config symbol for its size"
            self.findings.append(Diagnostic("SHD203", message, label, help=help))

    def _check_pers(self, expr: Expr, path: Path_, axes: Mapping[str, Axis], around: tuple[str, ...]) -> None:
        """`child per parent` needs a child within the parent, and a product with the parent alone around it."""
        match expr:
            case Per(child, parent):
                if child not in axes or axes[child].within != parent:
                    problem = f": {child} is not declared `within: {parent}`"
                elif parent not in around:
                    problem = f" stands inside a product with {parent}: `{parent} * (…)`"
                else:
                    return
                label = Label(self.document.inside(path, *expr.at))
                self.findings.append(Diagnostic("SHD203", f"`{show(expr)}`{problem}", label))
            case Binary("*", Name(id), right) if id in axes:
                self._check_pers(right, path, axes, (*around, id))
            case _:
                for part in children(expr):
                    self._check_pers(part, path, axes, around)

    def _check_products(self, expr: Expr, path: Path_, axes: Mapping[str, Axis]) -> None:
        if isinstance(expr, Binary) and expr.op == "*":
            left = axes_in(expr.left, axes)
            right = [node.id for node in walk(expr.right) if isinstance(node, Name) and node.id in axes]
            for a in left:
                for b in right:
                    if axes[a].over == axes[b].over:
                        message = f"`{show(expr)}`: {axes[a].over} would split both {a} and {b} in one product"
                        label = Label(self.document.inside(path, *expr.at))
                        help = f"write `{b} per {a}`" if axes[b].within == a else "one of them must be a plain number"
                        self.findings.append(Diagnostic("SHD205", message, label, help=help))
                        return
        for part in children(expr):
            self._check_products(part, path, axes)


def _has_local(expr: Expr) -> bool:
    return any(isinstance(node, Local) for node in walk(expr))
