"""The values of a spec's config symbols in one config.json."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from shardc.diagnostics import Diagnostic, Label, Value
from shardc.layout.errors import FormulaError
from shardc.layout.evaluate import PRESENT, evaluate
from shardc.layout.expr import names
from shardc.layout.show import show
from shardc.plan.evidence import Evidence, Header
from shardc.plan.resolved import HeaderDim, Resolved, Symbol

_ABSENT = object()
_NONE: tuple[str, Header] = ("", ("", ()))


class Symbols(Struct):
    """`values` by symbol; `sources` says where each came from. A symbol with a finding has no value."""

    values: dict[str, object] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)
    findings: list[Diagnostic] = field(default_factory=list)


def bind_symbols(resolved: Resolved, evidence: Evidence) -> Symbols:
    """Looks every symbol up below the spec's root; null counts as absent. Findings: SHD108, SHD109, SHD110."""
    out = Symbols()
    if evidence.headers is not None:
        out.values[PRESENT] = evidence.headers.__contains__
    root = resolved.spec.root
    config = evidence.config if root is None else _lookup(evidence.config, root)
    if not isinstance(config, Mapping):
        label = Label(resolved.document.value("root"))
        values = (Value("config", evidence.name, evidence.source(root or "")),)
        help = f"is this config of {' or '.join(resolved.spec.architectures)}? Otherwise correct `root:`"
        out.findings.append(Diagnostic("SHD108", f"config has no {root}", label, values=values, help=help))
        return out
    pending = dict(resolved.symbols)
    for symbol in list(pending.values()):
        if _from_config(symbol, config, resolved, evidence, out):
            del pending[symbol.name]
    _from_formulas(pending, resolved, evidence, out)
    return out


def _lookup(config: Mapping[str, object], path: str) -> object:
    here: object = config
    for step in path.split("."):
        if not isinstance(here, Mapping) or here.get(step) is None:
            return _ABSENT
        here = here[step]
    return here


def _from_config(
    symbol: Symbol, config: Mapping[str, object], resolved: Resolved, evidence: Evidence, out: Symbols
) -> bool:
    """Whether the symbol is settled: found, in conflict, or missing with nothing to fall back on."""
    prefix = f"{resolved.spec.root}." if resolved.spec.root else ""
    found = [
        (key, value, evidence.source(prefix + key))
        for key in symbol.keys
        if (value := _lookup(config, key)) is not _ABSENT
    ]
    if symbol.header is not None:
        found += _in_headers(symbol.header, evidence)
    label = Label(resolved.document.value(*symbol.path))
    if not found:
        if symbol.otherwise is not None:
            return False
        message = _not_found(symbol, evidence)
        help = (
            f"is this config of {' or '.join(resolved.spec.architectures)}? Otherwise give `{symbol.name}` an `else:`"
        )
        source = (Value("config", evidence.name, evidence.source(resolved.spec.root or "")),)
        out.findings.append(Diagnostic("SHD108", message, label, values=source, help=help))
        return True
    key, value, source_ = found[0]
    different = [(other, v) for other, v, _ in found[1:] if v != value]
    if different:
        other, v = different[0]
        message = f"{key} = {value} and {other} = {v} disagree: they are two spellings of one fact"
        values = tuple(Value(k, v, where) for k, v, where in found)
        out.findings.append(Diagnostic("SHD109", message, label, values=values, help="correct the config"))
        return True
    out.values[symbol.name] = value
    out.sources[symbol.name] = source_
    return True


def _in_headers(header: HeaderDim, evidence: Evidence) -> list[tuple[str, object, str]]:
    """The size that the header of the first matching tensor gives, if there is one that has the dim."""
    name, (_, shape) = evidence.first_named(header.tensor) or _NONE
    return [(f"dim {header.dim} of {name}", shape[header.dim], evidence.name)] if header.dim < len(shape) else []


def _not_found(symbol: Symbol, evidence: Evidence) -> str:
    keys = ", ".join(symbol.keys)
    where = [f"config has no {keys}" if len(symbol.keys) == 1 else f"config has none of {keys}"] if keys else []
    if symbol.header is not None:
        header = symbol.header
        lacks = "there are no headers" if evidence.headers is None else "no tensor is named so and has the dim"
        where.append(f"{symbol.name} is dim {header.dim} of {header.tensor}, and {lacks}")
    return "; ".join(where)


def _from_formulas(pending: dict[str, Symbol], resolved: Resolved, evidence: Evidence, out: Symbols) -> None:
    """`else` formulas, each after the symbols it uses; one that needs a symbol without a value is passed over."""
    while pending:
        ready = [s for s in pending.values() if s.otherwise is not None and names(s.otherwise) <= out.values.keys()]
        if not ready:
            return
        for symbol in ready:
            del pending[symbol.name]
            assert symbol.otherwise is not None
            try:
                out.values[symbol.name] = evaluate(symbol.otherwise, out.values)
                out.sources[symbol.name] = f"else: {show(symbol.otherwise)}"
            except FormulaError as error:
                label = Label(resolved.document.value(*symbol.path, "else"))
                used = sorted(names(symbol.otherwise))
                values = tuple(Value(name, out.values[name], out.sources[name]) for name in used)
                message = f"{symbol.name}: {error.message.replace('`', '')}"
                out.findings.append(Diagnostic(error.code, message, label, values=values, help=error.help))
