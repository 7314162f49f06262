"""One architecture's generated module."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from textwrap import fill

import jinja2

from shardc.emit.body import Body
from shardc.emit.brackets import WIDTH, Code, call, dict_of, lines, prefixed, tuple_of
from shardc.emit.python import quote
from shardc.layout.show import show
from shardc.plan.collectives import collectives
from shardc.plan.resolved import Format, FormatPart, PartDim, Resolved

#: Raised when the emitter writes the same plan differently.
EMITTER = 1


def module(resolved: Resolved) -> str:
    """The text of generated/<name>.py; a pure function of what the spec means."""
    spec = resolved.spec
    body = Body(resolved)
    text = "\n".join(body.write())
    parts = {
        "architectures": _assigned("ARCHITECTURES", tuple_of([quote(name) for name in spec.architectures])),
        "mesh": _assigned("MESH", tuple_of([quote(dim) for dim in resolved.mesh_dims])),
        "dtype": _assigned("DTYPE", tuple_of([quote(dtype) for dtype in spec.dtype.file])),
        "formats": _assigned("FORMATS: dict[str, rt.Format]", _formats(resolved)),
        "ignored": _assigned("IGNORED", tuple_of([quote(ignore.name) for ignore in spec.ignore])),
        "collectives": _assigned("COLLECTIVES", _collectives(resolved)),
        "body": text,
    }
    title = f"{', '.join(spec.architectures)}: what one rank keeps of a safetensors checkpoint."
    digest = hashlib.sha256("\n".join(parts.values()).encode()).hexdigest()[:12]
    return _template().render(
        name=spec.name,
        digest=digest,
        emitter=EMITTER,
        title=_docstring(title, indent=3),
        about=_docstring(spec.about),
        mesh_text=_docstring(f"Mesh: {_mesh_text(resolved)}"),
        contracts_text=_docstring(f"Contracts: {_contracts_text(resolved)}"),
        needs_lcm=body.needs_lcm,
        has_outputs=bool(resolved.outputs),
        **parts,
    )


@cache
def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        autoescape=False,
    )
    return environment.get_template("module.py.j2")


def _assigned(name: str, code: Code) -> str:
    return "\n".join(lines(prefixed(f"{name} = ", code), 0))


def _docstring(text: str, indent: int = 0) -> str:
    """Text of a spec inside a docstring: printable characters, and nothing that could end it, in lines that fit."""
    printable = "".join(ch if ch.isprintable() else " " for ch in text)
    safe = printable.replace("\\", "\\\\").replace('"', "'").strip()
    wrapped = fill(" " * indent + safe, WIDTH, break_long_words=False, break_on_hyphens=False)
    return wrapped[indent:]


def _mesh_text(resolved: Resolved) -> str:
    axes = list(resolved.axes.values()) + [axis for entry in resolved.entries for axis in entry.axes.values()]
    split = {dim: dict.fromkeys(axis.name for axis in axes if axis.over == dim) for dim in resolved.mesh_dims}
    return "; ".join(f"{dim} splits {', '.join(names)}" for dim, names in split.items() if names) + "."


def _contracts_text(resolved: Resolved) -> str:
    texts = []
    for contract in resolved.contracts:
        given = ", ".join(f"{name} = {show(expr)}" for name, expr in contract.written.items())
        texts.append(f"{contract.use} needs {show(contract.require)}, {given}")
    return "; ".join(texts) + "." if texts else "none."


def _formats(resolved: Resolved) -> Code:
    used: dict[str, Format] = {f.name: f for entry in resolved.entries for f in entry.formats if f.parts}
    return dict_of([prefixed(f"{quote(name)}: ", _format(used[name])) for name in sorted(used)])


def _format(format: Format) -> Code:
    items: list[Code] = [tuple_of([_part(part) for part in format.parts])]
    if format.sizes:
        sizes = [_fact(size.name, size.keys, str(size.otherwise)) for size in format.sizes]
        items.append(prefixed("sizes=", dict_of(sizes)))
    if format.flags:
        flags = [_fact(flag.name, flag.keys, quote(flag.part) if flag.part else "None") for flag in format.flags]
        items.append(prefixed("flags=", dict_of(flags)))
    return call("rt.Format", *items)


def _fact(name: str, keys: tuple[str, ...], other: str) -> Code:
    return prefixed(f"{quote(name)}: ", tuple_of([tuple_of([quote(key) for key in keys]), other]))


def _part(part: FormatPart) -> Code:
    dims = tuple_of([_dim(dim) for dim in part.dims])
    items: list[Code] = [quote(part.name), tuple_of([quote(dtype) for dtype in part.dtypes]), dims]
    if part.optional:
        items.append("optional=True")
    if part.values:
        items.append(prefixed("values=", tuple_of([quote(role) for role in part.values])))
    return call("rt.Part", *items)


def _dim(dim: PartDim) -> Code:
    items = [quote(dim.role) if dim.role else "None"]
    if dim.unit != 1:
        items.append(_size(dim.unit))
    if dim.ceil:
        items.append("ceil=True")
    if dim.count != 1:
        items.append(f"entries={_size(dim.count)}")
    if dim.whole:
        items.append(f"whole={_size(dim.whole)}")
    return call("rt.Dim", *items)


def _size(size: int | str) -> str:
    return quote(size) if isinstance(size, str) else str(size)


def _collectives(resolved: Resolved) -> Code:
    return tuple_of([f"({quote(c.pattern)}, {quote(c.what)}, {quote(c.over)})" for c in collectives(resolved)])
