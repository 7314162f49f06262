"""The rules of a SARIF log: every code, whether it was found or not, so that two logs differ in results alone."""

from __future__ import annotations

from collections.abc import Callable

from shardc.diagnostics.codes import NAMES

LONGEST = 1024  # characters of a description, as GitHub's code scanning takes them
#: The place of each code in the list of rules.
INDEX = {code: index for index, code in enumerate(NAMES)}

Explain = Callable[[str], str | None]


def rules(explain: Explain) -> list[dict[str, object]]:
    """A reporting descriptor for each code; `explain` gives the Markdown text of a code, None where it has none."""
    return [_rule(code, name, explain(code)) for code, name in NAMES.items()]


def _rule(code: str, name: str, text: str | None) -> dict[str, object]:
    """The first paragraph that is no heading describes the rule; its first sentence does so in short."""
    described = " ".join(_first_paragraph(text or "").split()) or name
    short, stop, _ = described.partition(". ")
    more = f"More: `shardc explain {code}`"
    return {
        "id": code,
        "name": name,
        "shortDescription": {"text": (short + stop).strip()[:LONGEST]},
        "fullDescription": {"text": described[:LONGEST]},
        "help": {"text": f"{described}\n\n{more}", "markdown": f"{(text or described).strip()}\n\n{more}\n"},
    }


def _first_paragraph(text: str) -> str:
    return next((part for part in text.split("\n\n") if not part.startswith("#")), "")
