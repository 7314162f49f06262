"""A YAML document as a Spec, or every reason why it is none."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

from pydantic import BaseModel, ValidationError

from shardc.diagnostics import Diagnostic, Label
from shardc.source import Document, Path_
from shardc.spec.model import Axis, Contract, DtypeRule, Group, Ignore, Loop, Spec, Symbol, Target, Tensor, Tied

_FIELD_OWNERS: tuple[type[BaseModel], ...] = (
    Spec, Axis, Group, Tensor, Contract, Ignore, Target, DtypeRule, Symbol, Tied, Loop,
)  # fmt: skip
#: More than this many fields that are wrong are counted only.
MAX_FINDINGS = 200
#: What a field must be, by the type of pydantic's error.
_WANTED = {
    "model_type": "a mapping",
    "dict_type": "a mapping",
    "list_type": "a list",
    "string_type": "a word",
    "int_type": "a whole number",
    "bool_type": "true or false",
}


def read_spec(document: Document) -> tuple[Spec | None, list[Diagnostic]]:
    """The document as a Spec; otherwise None and one finding for each field that is wrong."""
    if not isinstance(document.data, dict):
        label = Label(document.value())
        return None, [Diagnostic("SHD101", "a spec is a mapping of fields", label, help="begin with `spec: 1`")]
    try:
        return Spec.model_validate(document.data), []
    except ValidationError as error:
        findings = [_finding(document, item) for item in _one_each(error, document)]
        if error.error_count() > MAX_FINDINGS:
            message = f"{error.error_count()} fields are wrong; the first {MAX_FINDINGS} are shown"
            findings.append(Diagnostic("SHD005", message, Label(document.value())))
        return None, findings


def _one_each(error: ValidationError, document: Document) -> list[Any]:
    """Errors without those that only repeat one: at the same place, or a field missed because it is misspelt there."""
    seen: dict[tuple[Any, ...], Any] = {}
    for item in error.errors(include_url=False, include_context=True)[:MAX_FINDINGS]:
        seen.setdefault(item["loc"], item)
    meant = {
        (*loc[:-1], near)
        for loc, item in seen.items()
        if item["type"] == "extra_forbidden" and (near := _meant(document, loc))
    }
    return [item for loc, item in seen.items() if not (item["type"] == "missing" and loc in meant)]


def _finding(document: Document, item: Any) -> Diagnostic:
    loc: tuple[str | int, ...] = item["loc"]
    is_key = bool(loc) and loc[-1] == "[key]"
    path: Path_ = loc[:-1] if is_key else loc
    name = str(path[-1]) if path else "spec"
    help = ""
    match item["type"]:
        case "extra_forbidden":
            return _unknown(document, path)
        case "missing":
            return Diagnostic("SHD101", f"`{name}` is missing", Label(document.key(*path[:-1])), help=f"add `{name}:`")
        case "literal_error":
            expected = item["ctx"]["expected"].replace("'", "`").replace(" or ", ", ")
            label = Label(document.value(*path))
            return Diagnostic("SHD106", f"`{item['input']}` is not a choice for `{_field(path)}`: {expected}", label)
        case "string_pattern_mismatch":
            label = Label(document.key(*path) if is_key else document.value(*path))
            return Diagnostic(
                "SHD101", f"`{item['input']}` is not a name that can stand here", label, help=_naming(item)
            )
        case "value_error":
            message = str(item["ctx"]["error"])
        case kind if kind in _WANTED:
            each = "each of " if path and isinstance(path[-1], int) else ""
            message = f"{each}`{_field(path)}` must be {_WANTED[kind]}, not `{_shown(item['input'])}`"
            if kind == "list_type" and isinstance(item["input"], (str, int)):
                help = f"write `[{_shown(item['input'])}]`"
        case "greater_than_equal":
            message = f"`{_field(path)}` must be at least {item['ctx']['ge']}, not {item['input']}"
        case "less_than_equal":
            message = f"`{_field(path)}` must be at most {item['ctx']['le']}, not {item['input']}"
        case "too_short":
            message = f"`{_field(path)}` must hold at least {item['ctx']['min_length']}"
        case "too_long":
            message = f"`{_field(path)}` may hold at most {item['ctx']['max_length']}, not {len(item['input'])}"
        case _:
            message = f"`{_field(path)}`: {item['msg'][:1].lower()}{item['msg'][1:]}"
    return Diagnostic("SHD101", message, Label(document.key(*path) if is_key else document.value(*path)), help=help)


def _unknown(document: Document, path: Path_) -> Diagnostic:
    near = _meant(document, path)
    label = Label(document.key(*path), f"did you mean `{near}`?" if near else "")
    help = "" if near else f"fields here: {', '.join(_fields_beside(document, path))}"
    return Diagnostic("SHD102", f"unknown field `{path[-1]}`", label, help=help)


def _meant(document: Document, path: Path_) -> str | None:
    """The field that an unknown one is probably a slip for."""
    near = get_close_matches(str(path[-1]), _fields_beside(document, path), n=1, cutoff=0.6)
    return near[0] if near else None


def _fields_beside(document: Document, path: Path_) -> list[str]:
    """Fields of the models that already have most of the given neighbours; all fields where none stands out."""
    here: Any = document.data
    for step in path[:-1]:
        here = here[step]
    given = set(here) if isinstance(here, dict) else set()
    owners = {owner: {field.alias or name for name, field in owner.model_fields.items()} for owner in _FIELD_OWNERS}
    best = max(len(given & fields) for fields in owners.values())
    return sorted({name for fields in owners.values() if len(given & fields) == best for name in fields})


def _field(path: Path_) -> str:
    return next((str(step) for step in reversed(path) if isinstance(step, str)), "spec")


def _shown(value: Any) -> str:
    """A value as the file has it, cut to a length that a message can carry."""
    text = "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
    return text if len(text) <= 40 else f"{text[:40]}…"


def _naming(item: Any) -> str:
    if "A-Za-z0-9_" in item["ctx"]["pattern"]:
        return "letters, digits, `_`, `-` and `.`; indices in braces: `layers.{layer}`"
    return "a lower-case letter, then lower-case letters, digits and `_`"
