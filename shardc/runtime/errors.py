"""The one exception of a generated module: what was refused, with every finding of that check."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

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


GATHERED: ContextVar[list[Finding] | None] = ContextVar("gathered", default=None)


@contextmanager
def findings_together() -> Iterator[None]:
    """What is refused inside is gathered, and raised at the end as one ShardError."""
    gathered: list[Finding] = []
    token = GATHERED.set(gathered)
    try:
        yield
    except ShardError as error:
        gathered += error.findings
    except Exception:
        if not gathered:
            raise
    finally:
        GATHERED.reset(token)
    if gathered:
        raise ShardError(*gathered)


def refuse(*findings: Finding) -> None:
    """Raises a ShardError; inside `findings_together` the findings are kept for its end, and the caller goes on."""
    gathered = GATHERED.get()
    if gathered is None:
        raise ShardError(*findings)
    gathered += findings


def has_refused() -> bool:
    """True inside `findings_together` once something has been refused."""
    return bool(GATHERED.get())
