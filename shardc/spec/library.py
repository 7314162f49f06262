"""Formats, contracts and fragments as data: the YAML files of shardc/library."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from shardc.diagnostics import ShardcBug
from shardc.source import load
from shardc.spec.fields import Dtype, Formula, Identifier, Model, TensorName, Words
from shardc.spec.group import Tensor

_LIBRARY = Path(__file__).parent.parent / "library"


class PartFile(Model):
    """One tensor of a format; `{stem}` is the tensor's name without `.weight`.

    A dim is a number, or a formula of `out` or `in`. Where the flag `input_whole` holds, a rank keeps all along the
    input. `values` says that the tensor holds these sizes of the weight: it is not read, each rank has its own.
    """

    name: str
    dtypes: list[Dtype] = Field(min_length=1)
    shape: list[Formula]
    optional: bool = False
    input_whole: Identifier | None = None
    values: tuple[Literal["out", "in"], ...] = Field((), strict=False)


class SizeFile(Model):
    """A size that checkpoints of one format differ in. The headers decide; before them, these keys of config.json."""

    key: Words
    otherwise: int = Field(alias="else")


class FlagFile(Model):
    """True where the config has a true value at one of these keys, or the file has this tensor of the format."""

    key: Words | None = None
    part: str | None = None


class FormatFile(Model):
    name: Identifier
    about: str
    sizes: dict[Identifier, SizeFile] = Field(default_factory=dict)
    flags: dict[Identifier, FlagFile] = Field(default_factory=dict)
    parts: list[PartFile]


class ContractFile(Model):
    """What a kernel requires of its parameters, why, and what to do where it does not hold."""

    name: Identifier
    about: str
    parameters: Annotated[list[Identifier], Field(min_length=1)]
    require: Formula
    why: str
    help: str


class FragmentFile(Model):
    """Tensors that many architectures share. `needs` are the symbols, axes and lets that their formulas mention."""

    name: Identifier
    about: str
    needs: list[Identifier]
    tensors: Annotated[dict[TensorName, Tensor], Field(min_length=1)]


@cache
def format_names() -> tuple[str, ...]:
    return _names("formats")


@cache
def contract_names() -> tuple[str, ...]:
    return _names("contracts")


@cache
def fragment_names() -> tuple[str, ...]:
    return _names("fragments")


@cache
def fragment_file(name: str) -> FragmentFile:
    return FragmentFile.model_validate(_data("fragments", name))


@cache
def format_file(name: str) -> FormatFile:
    return FormatFile.model_validate(_data("formats", name))


@cache
def contract_file(name: str) -> ContractFile:
    return ContractFile.model_validate(_data("contracts", name))


def library_text(name: str) -> str | None:
    """The file of a fragment, format or contract as it is written; None for a name that is none of them."""
    for folder in ("fragments", "formats", "contracts"):
        if name in _names(folder):
            return (_LIBRARY / folder / f"{name}.yaml").read_text(encoding="utf-8")
    return None


def _names(folder: str) -> tuple[str, ...]:
    return tuple(sorted(path.stem for path in (_LIBRARY / folder).glob("*.yaml")))


def _data(folder: str, name: str) -> object:
    document, findings = load(_LIBRARY / folder / f"{name}.yaml")
    if document is None:
        raise ShardcBug(f"library/{folder}/{name}.yaml: {findings[0].message}")
    return document.data
