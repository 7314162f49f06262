"""The words and short forms that fields of a spec file may hold."""

from __future__ import annotations

import keyword
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

from shardc.spec.dtypes import SIZES

_IDENTIFIER = r"^[a-z][a-z0-9_]*$"
_NAME = r"^(?:[A-Za-z0-9_.\-]|\{[a-z][a-z0-9_]*\})+$"
_GLOB = r"^[A-Za-z0-9_.\-*]+$"
_CLASS = r"^[A-Za-z][A-Za-z0-9_]*$"
_KEYS = r"^[A-Za-z0-9_.]+$"
_FILE = r"^[A-Za-z0-9][A-Za-z0-9_.\-]*$"

#: What each pattern takes, in words.
SPELLINGS: Mapping[str, str] = {
    _IDENTIFIER: "a lower-case letter, then lower-case letters, digits and `_`",
    _NAME: "letters, digits, `_`, `-` and `.`; indices in braces: `layers.{layer}`",
    _GLOB: "letters, digits, `_`, `-` and `.`; `*` for any run of characters",
    _CLASS: "a letter, then letters, digits and `_`",
    _KEYS: "letters, digits and `_`; a `.` between keys",
    _FILE: "a letter or digit, then letters, digits, `_`, `-` and `.`",
}


class Model(BaseModel):
    """A mapping of a spec file: unknown fields are refused, nothing is coerced, nothing changes later."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)


def _identifier(word: str) -> str:
    if keyword.iskeyword(word) or word in ("true", "false", "per", "local", "has", "ceil", "min", "max"):
        raise ValueError(f"`{word}` is a word of the language")
    if word.endswith("_"):
        raise ValueError("a name does not end in `_`")
    return word


def _formula(value: Any) -> Any:
    """Plain numbers and `true` or `false` are formulas too."""
    return str(value).lower() if isinstance(value, int) else value


def _dtype(word: str) -> str:
    if word not in SIZES:
        raise ValueError(f"`{word}` is not a dtype; there are {', '.join(SIZES)}")
    return word


def no_flag(value: Any) -> Any:
    """`true` is no number, though Python counts it as 1."""
    if isinstance(value, bool):
        raise ValueError(f"`{str(value).lower()}` is not a number")
    return value


def both_dims(dims: list[Any]) -> list[Any]:
    if sorted(dims) != ["in", "out"]:
        raise ValueError("`dims` is [out, in] or [in, out]")
    return dims


def _listed(value: Any) -> Any:
    return value if isinstance(value, list) else [value]


def _distinct(words: list[Any]) -> list[Any]:
    twice = next((word for i, word in enumerate(words) if word in words[:i]), None)
    if twice is not None:
        raise ValueError(f"`{twice}` is given twice")
    return words


Identifier = Annotated[str, Field(pattern=_IDENTIFIER, max_length=60), AfterValidator(_identifier)]
TensorName = Annotated[str, Field(pattern=_NAME, max_length=300)]
Glob = Annotated[str, Field(pattern=_GLOB, max_length=300)]
ClassName = Annotated[str, Field(pattern=_CLASS)]
KeyPath = Annotated[str, Field(pattern=_KEYS)]
FileName = Annotated[str, Field(pattern=_FILE)]
Formula = Annotated[
    str,
    BeforeValidator(_formula),
    WithJsonSchema({"type": ["string", "integer", "boolean"]}),
]
Dtype = Annotated[str, AfterValidator(_dtype), WithJsonSchema({"enum": list(SIZES)})]
Dtypes = Annotated[
    list[Dtype], BeforeValidator(_listed, json_schema_input_type=Dtype | list[Dtype]), Field(min_length=1)
]
Identifiers = Annotated[
    list[Identifier],
    BeforeValidator(_listed, json_schema_input_type=Identifier | list[Identifier]),
    Field(min_length=1, max_length=50),
]
End = Literal["first", "last"]
Ends = Annotated[
    list[End],
    BeforeValidator(_listed, json_schema_input_type=End | list[End]),
    Field(min_length=1),
    AfterValidator(_distinct),
]
Words = Annotated[
    list[str],
    BeforeValidator(_listed),
    Field(min_length=1),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]}),
]
Size = Annotated[int, Field(ge=1, le=1_000_000)]
