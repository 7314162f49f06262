"""The long text of each code, as `shardc explain` shows it. One Markdown file a code, in `explain/`."""

from __future__ import annotations

import re
from pathlib import Path

from msgspec import Struct

from shardc.diagnostics import NAMES

_FOLDER = Path(__file__).parent / "explain"
_FENCE = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)


class Explanation(Struct, frozen=True):
    """The text, and its runnable example: a spec, and the config (or tensor table) of its target, if any."""

    text: str

    def example(self, language: str) -> str | None:
        """The first fenced block in `language`."""
        return next((body for kind, body in _FENCE.findall(self.text) if kind == language), None)


def explanation(code: str) -> Explanation | None:
    path = _FOLDER / f"{code}.md"
    return Explanation(path.read_text(encoding="utf-8")) if path.is_file() else None


def explained(code: str) -> str | None:
    """The text of a code, None where it has none."""
    found = explanation(code)
    return found.text if found else None


def codes() -> list[str]:
    """Every code that has a text."""
    return sorted(path.stem for path in _FOLDER.glob("SHD*.md"))


def page() -> str:
    """All texts as one Markdown page, the codes in order: docs/rules.md."""
    parts = ["# What shardc finds\n\nWritten by `shardc explain --markdown`.\n"]
    for code in codes():
        found = explanation(code)
        assert found is not None
        text = found.text.strip().replace("\n## ", "\n### ").removeprefix("## ")
        parts.append(f"## {code} {NAMES[code]}\n\n### {text}\n")
    return "\n".join(parts)
