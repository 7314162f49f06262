"""A spec's generated module, run in this process: the very code that will load the files."""

from __future__ import annotations

from typing import Any

from shardc import runtime
from shardc.runtime import Spec

#: What a generated module finds beside itself.
_runtime = runtime


def spec_of(text: str) -> Spec:
    """The spec of a generated module, of which `text` is the code."""
    names: dict[str, Any] = {"__name__": f"{__name__}.module", "__package__": __name__}
    exec(compile(text, "<generated>", "exec"), names)
    spec = names["SPEC"]
    assert isinstance(spec, Spec)
    return spec
