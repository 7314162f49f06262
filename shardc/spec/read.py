"""A YAML document as a Spec, or every reason why it is none."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

from pydantic import BaseModel, ValidationError

from shardc.diagnostics import Diagnostic, Label
from shardc.source import Document, Path_
from shardc.spec.axis import Axis
from shardc.spec.fields import SPELLINGS
from shardc.spec.group import DtypeRule, Group, Loop, Tensor, Tied, Use
from shardc.spec.model import Contract, Ignore, Spec, Symbol
from shardc.spec.outputs import Member, Output
from shardc.spec.target import Target

_FIELD_OWNERS: tuple[type[BaseModel], ...] = (
    Spec, Axis, Group, Tensor, Contract, Ignore, Target, DtypeRule, Symbol, Tied, Loop, Use, Output, Member,
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
    field = _field(document, path)
    help = ""
    match item["type"]:
        case "extra_forbidden":
            return _unknown(document, path)
        case "missing":
            label = Label(document.key(*path[:-1]))
            return Diagnostic("SHD101", f"`{path[-1]}` is missing", label, help=f"add `{path[-1]}:`")
        case "literal_error":
            expected = item["ctx"]["expected"].replace("'", "`").replace(" or ", ", ")
            message = f"`{_shown(item['input'])}` is not a choice for `{field}`: {expected}"
            return Diagnostic("SHD106", message, Label(document.value(*path)))
        case "string_pattern_mismatch":
            message = f"`{_shown(item['input'])}` is not a name that can stand here"
            help = SPELLINGS[item["ctx"]["pattern"]]
        case "value_error":
            message = str(item["ctx"]["error"])
        case kind if kind in _WANTED:
            each = "each of " if path and isinstance(path[-1], int) else ""
            message = f"{each}`{field}` must be {_WANTED[kind]}, not `{_shown(item['input'])}`"
            if kind == "list_type" and isinstance(item["input"], (str, int)):
                help = f"write `[{_shown(item['input'])}]`"
        case "greater_than_equal":
            message = f"`{field}` must be at least {item['ctx']['ge']}, not {item['input']}"
        case "less_than_equal":
            message = f"`{field}` must be at most {item['ctx']['le']}, not {item['input']}"
        case "too_short":
            message = f"`{field}` must hold at least {item['ctx']['min_length']}"
        case "too_long":
            message = f"`{field}` may hold at most {item['ctx']['max_length']}, not {len(item['input'])}"
        case _:
            message = f"`{field}`: {item['msg'][:1].lower()}{item['msg'][1:]}"
    return Diagnostic("SHD101", message, Label(document.key(*path) if is_key else document.value(*path)), help=help)


def _unknown(document: Document, path: Path_) -> Diagnostic:
    near = _meant(document, path)
    label = Label(document.key(*path), f"did you mean `{near}`?" if near else "")
    help = "" if near else f"fields here: {', '.join(_fields_beside(document, path))}"
    return Diagnostic("SHD102", f"unknown field `{_shown(path[-1])}`", label, help=help)


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


def _field(document: Document, path: Path_) -> str:
    """The innermost field of `path` that the text names: `dtype: [5]` stands for one with a `file`, but says none."""
    prefixes = (path[:length] for length in range(len(path), 0, -1))
    return next((_shown(prefix[-1]) for prefix in prefixes if prefix in document.keys), "spec")


def _shown(value: Any) -> str:
    """A value as a file may have it, cut to a length that a message can carry."""
    text = _written(value)
    return text if len(text) <= 40 else f"{text[:40]}…"


def _written(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case list():
            return f"[{', '.join(map(_written, value))}]"
        case dict():
            return f"{{{', '.join(f'{_written(key)}: {_written(item)}' for key, item in value.items())}}}"
    return str(value)
