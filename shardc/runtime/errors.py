"""The one exception of a generated module: what was refused, with every finding of that check."""

from __future__ import annotations

Finding = tuple[str, str]  # (code, text): ("SHD401", "model.norm.weight is missing")

SHOWN_FINDINGS = 20


class ShardError(Exception):
    """A refusal. `str()` shows one `CODE: text` line a finding, at most 20; `findings` has them all."""

    def __init__(self, *findings: Finding) -> None:
        super().__init__(*findings)
        self.findings: tuple[Finding, ...] = findings

    @property
    def code(self) -> str:
        """The code of the first finding: `SHD201`."""
        return self.findings[0][0]

    def __str__(self) -> str:
        lines = [f"{code}: {text}" for code, text in self.findings[:SHOWN_FINDINGS]]
        hidden = len(self.findings) - len(lines)
        return "\n".join([*lines, f"… and {hidden} more"] if hidden else lines)
