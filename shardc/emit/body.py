"""The function of a generated module that says what the file holds and what one rank keeps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from itertools import count, groupby
from operator import attrgetter

from msgspec import Struct, field

from shardc.emit.axes import index_values, options
from shardc.emit.brackets import WIDTH, Code, call, dict_of, lines, prefixed
from shardc.emit.dims import Dims
from shardc.emit.families import Families, loops_around
from shardc.emit.outputs import output_code
from shardc.emit.python import code, identifier, name_code, quote
from shardc.layout.expr import Expr, Logic, Name, names, walk
from shardc.layout.show import show
from shardc.plan.resolved import Axis, Contract, Entry, Resolved, Symbol
from shardc.plan.stages import Ends
from shardc.plan.summed import inputs_of


class Body(Struct):
    """Collects lines of the function `tensors(config, mesh, granule)`."""

    resolved: Resolved
    out: list[str] = field(default_factory=list)
    needs_lcm: bool = False
    variables: dict[Expr, str] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)

    @property
    def families(self) -> Families:
        return Families(self.resolved, self.variables, self.taken)

    def write(self) -> list[str]:
        """The lines of the function's body."""
        root = self.resolved.spec.root
        self._line(f"c = rt.root(config, {quote(root)})" if root else "c = config", 1)
        for symbol in _in_order(self.resolved.symbols):
            self._symbol(symbol)
        self._blank()
        for axis in self.resolved.axes.values():
            self._axis(axis, 1)
        self._summed(self.resolved.axes, self.resolved.entries, 1)
        dims = Dims(self.resolved.axes, self.resolved.lets)
        self._lets(self.resolved.lets, dims, 1)
        self._regions(dims)
        for contract in self.resolved.contracts:
            self._contract(contract, dims)
        for group, entries in groupby(self.resolved.entries, attrgetter("group")):
            self._group(group, list(entries))
        return self.out

    def _line(self, text: str, depth: int) -> None:
        self.out.append("    " * depth + text)

    def _code(self, item: Code, depth: int) -> None:
        self.out += lines(item, depth)

    def _blank(self) -> None:
        if self.out and self.out[-1]:
            self.out.append("")

    def _symbol(self, symbol: Symbol) -> None:
        items: list[Code] = ["c", *(quote(key) for key in symbol.keys)]
        if symbol.header is not None:
            items.append(f"found=file.size({quote(symbol.header.tensor)}, {symbol.header.dim})")
        if symbol.otherwise is not None:
            lazy = "lambda: " if names(symbol.otherwise) else ""
            items.append(f"default={lazy}{code(symbol.otherwise)}")
        self._code(call(f"{identifier(symbol.name)} = rt.get", *items), 1)

    def _axis(self, axis: Axis, depth: int) -> None:
        name = identifier(axis.name)
        if axis.within is not None:
            parent = identifier(axis.within)
            self._code(call(f"{name} = rt.within", quote(axis.name), code(axis.size), parent), depth)
            return
        items: list[Code] = [quote(axis.name), code(axis.size), f"mesh[{quote(axis.over)}]"]
        items += [self._granule(axis), *options(axis.how)]
        self._code(call(f"{name} = rt.axis", *items), depth)

    def _summed(self, axes: Mapping[str, Axis], entries: Iterable[Entry], depth: int) -> None:
        """Checks of the axes that are summed over, where ranks may share their elements."""
        used = {name for entry in entries for name in inputs_of(entry, self.resolved.axes_of(entry))}
        for axis in axes.values():
            if axis.name in used and axis.how.if_fewer == "replicate":
                self._line(f"rt.summed({identifier(axis.name)})", depth)

    def _granule(self, axis: Axis) -> str:
        found = f"granule[{quote(axis.name)}]"
        if axis.how.granule == 1:
            return f"granule={found}"
        self.needs_lcm = True
        return f"granule=lcm({axis.how.granule}, {found})"

    def _lets(self, lets: Mapping[str, Expr], dims: Dims, depth: int) -> None:
        for name, expr in lets.items():
            self._line(f"{identifier(name)} = {dims.size(expr)}", depth)

    def _regions(self, dims: Dims) -> None:
        """One variable for each split dim that does not depend on an index: what the rank keeps of it."""
        self.taken = {*self.resolved.symbols, *self.resolved.axes, *self.resolved.lets}
        for e in self.resolved.entries:
            self.taken |= {*e.axes, *e.lets, *(loop.index for loop in e.loops)}
        for entry in self.resolved.entries:
            inner = {loop.index for loop in entry.loops} | entry.axes.keys()
            own = Dims(dims.axes, {**self.resolved.lets, **entry.lets})
            for expr, written in zip(entry.dims, entry.written, strict=True):
                if expr in self.variables or names(expr) & inner or not own.is_split(expr):
                    continue
                if not self.variables:
                    self._blank()
                    self._line(
                        "# What this rank keeps of each split dim: rows (start, stop) of the file's tensor, in order,",
                        1,
                    )
                    self._line("# and after them, where there is a third number, so many rows of zero.", 1)
                name = _variable(written, self.taken)
                self.taken.add(name)
                self.variables[expr] = name
                regions = dims.regions(written if not names(written) & entry.lets.keys() else expr)
                assert regions is not None
                self._code(prefixed(f"{name} = ", regions), 1)

    def _contract(self, contract: Contract, dims: Dims) -> None:
        self._blank()
        depth = 1
        if contract.when is not None:
            self._line(f"if {code(contract.when)}:", depth)
            depth += 1
        values = {name: dims.code(dims.local(expr)) for name, expr in contract.given.items()}
        held = code(contract.require, lambda name: f"{name}_")
        for name, value in values.items():
            self._line(f"{name}_ = {value}", depth)
        given = dict_of([f"{quote(name)}: {name}_" for name in values])
        items: list[Code] = [quote(contract.use), quote(show(contract.require)), held, given]
        dims_of_mesh = [f"mesh[{quote(dim)}]" for dim in contract.over]
        self._code(call("rt.contract", *items, *dims_of_mesh), depth)

    def _group(self, group: str, entries: list[Entry]) -> None:
        first = entries[0]
        self._blank()
        self._line(f"# {group}", 1)
        dims = Dims(self.resolved.axes_of(first), {**self.resolved.lets, **first.lets})
        inner = {loop.index for loop in first.loops} | first.axes.keys()
        self._lets({k: v for k, v in first.lets.items() if not names(v) & inner}, dims, 1)
        shared = [when for when in first.when if all(when in entry.when for entry in entries)]
        depth = self._conditions([w for w in shared if not _indices(w, first)], 1)
        is_alike = all(entry.on == first.on for entry in entries)
        depth = self._ends(first.on if is_alike else {}, depth)
        inner_lets = {k: v for k, v in first.lets.items() if names(v) & inner}
        families = [self.families.code(entry, dims) for entry in entries]
        bound = [{identifier(loop.index)} for loop in first.loops]
        if bound:
            bound[-1] |= set(map(identifier, (*first.axes, *inner_lets)))
        around = [loops_around(family, bound) for family in families]
        pending = [w for w in shared if _indices(w, first)]
        for number, loop in enumerate(first.loops):
            self._outside(entries, families, [i for i, level in enumerate(around) if level == number], depth)
            self._line(f"for {identifier(loop.index)} in {index_values(loop, dims.axes)}:", depth)
            depth += 1
            passed = {outer.index for outer in first.loops[: number + 1]}
            ready = [w for w in pending if _indices(w, first) <= passed]
            pending = [w for w in pending if w not in ready]
            depth = self._conditions(ready, depth)
        for axis in first.axes.values():
            self._axis(axis, depth)
        self._summed(first.axes, entries, depth)
        self._lets(inner_lets, dims, depth)
        prefix = _common_prefix(entries)
        if prefix:
            self._line(f"at = {name_code(prefix)}", depth)
        for entry, family in zip(entries, families, strict=True):
            own = [when for when in entry.when if when not in shared]
            inside = self._ends({} if is_alike else entry.on, self._conditions(own, depth))
            self._code(call("yield rt.Tensor", _named(prefix, entry.pattern), family), inside)
        for output in (output for output in self.resolved.outputs if output.group == group):
            self._code(output_code(output, dims, partial(_named, prefix)), depth)

    def _outside(self, entries: list[Entry], families: list[Code], which: list[int], depth: int) -> None:
        """Gives variables to the families that can be said before the next loop."""
        own = {family for family in families if isinstance(family, str)}
        for i in which:
            name = self.families.variable(_common_prefix(entries), entries[i].pattern, own)
            own.add(name)
            self._code(prefixed(f"{name} = ", families[i]), depth)
            families[i] = name

    def _conditions(self, whens: Iterable[Expr], depth: int) -> int:
        """Nested `if`s; a condition too long for a line is one for each part of its `and`."""
        for when in whens:
            line = f"if {code(when)}:"
            if isinstance(when, Logic) and when.op == "and" and 4 * depth + len(line) > WIDTH:
                depth = self._conditions(when.parts, depth)
                continue
            self._line(line, depth)
            depth += 1
        return depth

    def _ends(self, on: Ends, depth: int) -> int:
        """Only the ranks at the ends of a mesh dim have what follows."""
        for over, ends in on.items():
            self._line(f"if {' or '.join(f'mesh[{quote(over)}].is_{end}' for end in ends)}:", depth)
            depth += 1
        return depth


def _variable(written: Expr, taken: set[str]) -> str:
    """A name for the regions of a dim: the names in it, in order."""
    words = [node.id for node in walk(written) if isinstance(node, Name)]
    base = "_".join(words)[:60].rstrip("_") + "_at"
    return next(name for n in count() if (name := base if n == 0 else f"{base}{n + 1}") not in taken)


def _in_order(symbols: Mapping[str, Symbol]) -> list[Symbol]:
    """Symbols after those that their `else` uses."""
    out: list[Symbol] = []
    pending = list(symbols.values())
    while pending:
        done = {symbol.name for symbol in out}
        ready = next(s for s in pending if s.otherwise is None or names(s.otherwise) <= done)
        out.append(ready)
        pending.remove(ready)
    return out


def _indices(when: Expr, entry: Entry) -> set[str]:
    return names(when) & {loop.index for loop in entry.loops}


def _common_prefix(entries: list[Entry]) -> str:
    """The group's `at` with its dot: what all names begin with, up to the last dot that all share."""
    first, last = min(e.pattern for e in entries), max(e.pattern for e in entries)
    shared = next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(len(first), len(last)))
    prefix = first[: first.rfind(".", 0, shared) + 1]
    return prefix if "{" in prefix else ""


def _named(prefix: str, pattern: str) -> str:
    """A name pattern as code, by the variable `at` where it begins with the prefix."""
    if not prefix or not pattern.startswith(prefix):
        return name_code(pattern)
    return f"at + {name_code(pattern.removeprefix(prefix))}"
