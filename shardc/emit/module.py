"""One architecture's generated module."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

import jinja2

from shardc.emit.body import Body
from shardc.emit.brackets import Code, call, dict_of, lines, prefixed, tuple_of
from shardc.emit.python import quote
from shardc.layout.show import show
from shardc.plan.collectives import collectives
from shardc.plan.resolved import Format, FormatPart, Resolved

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
        "formats": _assigned("FORMATS: dict[str, tuple[rt.Part, ...]]", _formats(resolved)),
        "ignored": _assigned("IGNORED", tuple_of([quote(ignore.name) for ignore in spec.ignore])),
        "collectives": _assigned("COLLECTIVES", _collectives(resolved)),
        "body": text,
    }
    digest = hashlib.sha256("\n".join(parts.values()).encode()).hexdigest()[:12]
    return _template().render(
        name=spec.name,
        digest=digest,
        emitter=EMITTER,
        title=", ".join(spec.architectures),
        about=_docstring(spec.about),
        mesh_text=_docstring(_mesh_text(resolved)),
        contracts_text=_docstring(_contracts_text(resolved)),
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


def _docstring(text: str) -> str:
    """Text of a spec inside a docstring: printable characters, and nothing that could end it."""
    printable = "".join(ch if ch.isprintable() else " " for ch in text)
    return printable.replace("\\", "\\\\").replace('"', "'").strip()


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
    return dict_of(
        [prefixed(f"{quote(name)}: ", tuple_of([_part(p) for p in used[name].parts])) for name in sorted(used)]
    )


def _part(part: FormatPart) -> Code:
    dims = tuple_of([f"({quote(dim.role)}, {dim.unit}, {dim.ceil})" for dim in part.dims])
    items: list[Code] = [quote(part.name), tuple_of([quote(dtype) for dtype in part.dtypes]), dims]
    return call("rt.Part", *items, *(["optional=True"] if part.optional else []))


def _collectives(resolved: Resolved) -> Code:
    return tuple_of([f"({quote(c.pattern)}, {quote(c.what)}, {quote(c.over)})" for c in collectives(resolved)])
