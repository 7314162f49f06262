"""A process that measures one load, as its parent sees it."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from bench.loading.measure import MARK

ROOT = Path(__file__).parents[2]


class Failed(Exception):
    """A measurement that has no figures; the text is the reason."""


class Child:
    """A process that measures one load."""

    def __init__(self, python: Path, task: Mapping[str, Any], environment: Mapping[str, str]) -> None:
        self._reason = ""
        self._errors: IO[str] = tempfile.TemporaryFile("w+")  # noqa: SIM115 (`end` closes it)
        self._process = subprocess.Popen(
            [python, "-m", "bench.loading.measure"],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
        )
        self.tell(json.dumps(task))

    def tell(self, line: str) -> None:
        """Writes one line to the process. Raises Failed where it is gone."""
        assert self._process.stdin
        try:
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise Failed(self._last_words()) from None

    def hear(self, wanted: str) -> Any:
        """The value of the next line of this kind. Raises Failed where the process ends without it."""
        assert self._process.stdout
        for line in self._process.stdout:
            if not line.startswith(MARK):
                continue
            kind, value = json.loads(line.removeprefix(MARK))
            if kind == "reason":
                raise Failed(value)
            if kind == wanted:
                return value
        raise Failed(self._last_words())

    def end(self) -> None:
        """Ends the process if it runs still, and closes what it was connected to."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._errors):
            assert stream
            stream.close()

    def give_up(self, reason: str) -> None:
        """Ends the process; a `hear` that waits for it raises Failed with the reason."""
        self._reason = reason
        self._process.kill()

    def _last_words(self) -> str:
        """Why a process ended: the last line of its errors."""
        code = self._process.wait()
        if self._reason:
            return self._reason
        self._errors.seek(0)
        lines = self._errors.read().strip().splitlines()
        return f"exit {code}: {lines[-1][:200]}" if lines else f"exit {code}"
