"""Findings as values, and their renderers: full, concise, json, github, sarif."""

from shardc.diagnostics.codes import NAMES
from shardc.diagnostics.diagnostic import Diagnostic, Label, Severity, ShardcBug, Span, Value

__all__ = ["NAMES", "Diagnostic", "Label", "Severity", "ShardcBug", "Span", "Value"]
