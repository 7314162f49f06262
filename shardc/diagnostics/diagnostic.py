"""What shardc has to say about an input, as values. Rendering is elsewhere (`render_*.py`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct, field

Severity = Literal["error", "warning", "hint"]


class Span(Struct, frozen=True, order=True):
    """A stretch of a text file. Lines and columns count from 1; `end_col` is the column after the last character."""

    file: str
    line: int
    col: int
    end_line: int
    end_col: int


class Label(Struct, frozen=True):
    """Words under a stretch of text; the primary label of a finding may have none."""

    span: Span
    text: str = ""


class Value(Struct, frozen=True):
    """A number (or word) a finding depends on, and where it came from: `specs/checkpoints/x.json:9`, `target x`."""

    name: str
    value: object
    source: str = ""


class Diagnostic(Struct, frozen=True):
    """One finding: what is wrong, where, with which values, what would be legal, and one next step.

    `valid` names a mesh dim (or another choice) and lists its legal values.
    `same_cause` names further tensors that this one cause stops: `v_proj.weight (line 32)`.
    `about` is the file that a finding without a label is about, as a whole; its message names it as well.
    """

    code: str
    message: str
    label: Label | None = None
    related: tuple[Label, ...] = ()
    values: tuple[Value, ...] = ()
    valid: Mapping[str, tuple[object, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    help: str = ""
    same_cause: tuple[str, ...] = ()
    severity: Severity = "error"
    about: str = ""

    @property
    def file(self) -> str:
        """The file that the finding is in, or about; "" where there is none."""
        return self.label.span.file if self.label else self.about

    @property
    def sort_key(self) -> tuple[object, ...]:
        span = self.label.span if self.label else Span("", 0, 0, 0, 0)
        return (span, self.code, self.message)


class ShardcBug(Exception):
    """A law of the language did not hold: the fault is in shardc, not in its input (exit code 3)."""
