"""action.yml as GitHub runs it: each `run:` step by bash, with values in its environment and files for its outputs."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tests.ci.support import ENVIRONMENT
from tests.support import ROOT

ACTION: Any = yaml.safe_load((ROOT / "action.yml").read_text())
STEPS: list[Any] = ACTION["runs"]["steps"]
EXPRESSION = re.compile(r"\$\{\{ (.*?) \}\}")


@dataclass
class Job:
    """One job in a checked-out repository. `base` is the branch that its pull request goes to, "" for none."""

    workspace: Path
    temporary: Path
    base: str = "main"
    inputs: dict[str, str] = field(default_factory=dict)
    outputs: dict[tuple[str, str], str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.temporary.mkdir()
        self.inputs = {name: one["default"] for name, one in ACTION["inputs"].items()} | self.inputs
        self.summary.touch()
        self.outputs["install", "shardc"] = str(self._command())

    @property
    def summary(self) -> Path:
        return self.temporary / "summary.md"

    def run(self, *names: str) -> tuple[int, str]:
        """The steps of these ids or names, one after the other: the last exit code, and what all of them print.

        A step that fails ends the job, as no step has a condition of its own.
        """
        said, code = "", 0
        for name in names:
            (step,) = [step for step in STEPS if name in (step.get("id"), step.get("name"))]
            done = self._run(step)
            said, code = said + done.stdout, done.returncode
            if code:
                break
        return code, said

    def run_all(self) -> tuple[int, str]:
        """Every step but the installation, in place of which this working tree's command stands."""
        return self.run("check", "build", "diff", "The result of shardc")

    def output(self, name: str) -> str:
        """An output of the action."""
        return self._resolved(ACTION["outputs"][name]["value"])

    def _run(self, step: Mapping[str, Any]) -> subprocess.CompletedProcess[str]:
        script, written = self.temporary / "step.sh", self.temporary / "output"
        script.write_text(step["run"])
        written.write_text("")
        github = {
            "CI": "true",
            "GITHUB_ACTION_PATH": str(ROOT),
            "GITHUB_OUTPUT": str(written),
            "GITHUB_STEP_SUMMARY": str(self.summary),
            "GITHUB_WORKSPACE": str(self.workspace),
            "RUNNER_TEMP": str(self.temporary),
        }
        environment = {name: self._resolved(value) for name, value in step.get("env", {}).items()}
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],
            cwd=self.workspace / self._resolved(step.get("working-directory", ".")),
            env={**ENVIRONMENT, **github, **environment}, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        for line in written.read_text().splitlines():
            name, _, value = line.partition("=")
            self.outputs[step["id"], name] = value
        return done

    def _resolved(self, value: str) -> str:
        """A value with its expressions replaced; those that this file does not know are an error."""
        return EXPRESSION.sub(lambda found: self._value(found[1]), value)

    def _value(self, expression: str) -> str:
        for either in expression.split(" || "):
            match either.split("."):
                case ["inputs", name]:
                    found = self.inputs[name]
                case ["steps", step, "outputs", name]:
                    found = self.outputs.get((step, name), "")
                case ["github", "base_ref"]:
                    found = self.base
                case _:
                    raise AssertionError(f"unknown expression: {expression}")
            if found:
                return found
        return ""

    def _command(self) -> Path:
        """`shardc`, as this working tree has it."""
        command = self.temporary / "shardc-of-this-tree"
        command.write_text(f'#!/bin/sh\nPYTHONPATH={ROOT} exec "{sys.executable}" -m shardc "$@"\n')
        command.chmod(0o755)
        return command


def expressions(step: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Every expression of a step, with the key that it stands under."""
    for key, value in step.items():
        for text in value.values() if isinstance(value, dict) else [value]:
            yield from ((key, found) for found in EXPRESSION.findall(str(text)))
