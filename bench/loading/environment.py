"""The interpreter that measures: a virtual environment of its own, with every library that is compared."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

REQUIREMENTS = Path(__file__).with_name("requirements.txt")


def interpreter(scratch: Path) -> Path:
    """Python of `scratch`/venv, made where it is not there yet. What can't be installed is printed, and left out."""
    folder = scratch / "venv"
    python = folder / "bin" / "python"
    done = folder / "requirements.txt"
    wanted = REQUIREMENTS.read_text()
    if done.exists() and done.read_text() == wanted:
        return python
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    for requirement in wanted.split():
        command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", requirement]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        if run.returncode:
            print(f"{requirement} can't be installed: {run.stderr.strip().splitlines()[-1]}")
    done.write_text(wanted)
    return python
