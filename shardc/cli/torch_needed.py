"""Commands that move bytes need torch, which shardc comes without."""

from __future__ import annotations

import functools
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from typing import ParamSpec, TypeVar

import click

from shardc.cli.output import report
from shardc.diagnostics import Diagnostic

P = ParamSpec("P")
T = TypeVar("T")


def needs_torch(function: Callable[P, T]) -> Callable[P, T]:
    """Raises UsageError where torch is not installed."""

    @functools.wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> T:
        if importlib.util.find_spec("torch") is None:
            raise click.UsageError("this command needs torch: pip install 'shardc[run]'")
        return function(*args, **kwargs)

    return checked


def reported(function: Callable[[], str], about: Path, format_: str) -> None:
    """Prints what the function says, or what the runtime finds about a directory; exits with 0 or 1."""
    try:
        text = function()
    except Exception as error:
        findings = getattr(error, "findings", None)
        if type(error).__name__ != "ShardError" or not findings:
            raise
        sys.exit(report([Diagnostic(code, message, about=str(about)) for code, message in findings], format_))
    sys.exit(report([], format_, text))
