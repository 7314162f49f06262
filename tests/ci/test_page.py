"""What docs/ci.md shows to copy: each block is valid, and each command in it runs."""

from __future__ import annotations

import json
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from shardc.review.shown.markdown import LIMIT
from tests.ci.action import ACTION, EXPRESSION, Job
from tests.ci.support import ENVIRONMENT, build, commit_all, edit, git, run, specs_repository
from tests.support import ROOT

PAGE = (ROOT / "docs" / "ci.md").read_text()
MARK = "<!-- shardc:diff -->"
FORMS = {"jobs": "vendor.github-workflows", "shardc": "vendor.gitlab-ci"}


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


YAML: list[Any] = [yaml.safe_load(text) for text in blocks("yaml")]
WORKFLOWS = [block for block in YAML if "jobs" in block]
(GITLAB,) = (block["shardc"] for block in YAML if "shardc" in block)


@pytest.fixture
def user(tmp_path: Path) -> Path:
    """A clone on a branch that adds a size, with `shardc` and a `pip` that does nothing on its PATH."""
    origin = specs_repository(tmp_path / "origin")
    clone = tmp_path / "clone"
    git("clone", "--quiet", origin.as_uri(), str(clone), cwd=tmp_path)
    git("switch", "--quiet", "--create", "change", cwd=clone)
    edit(clone / "specs" / "tiny.yaml", "[heads * 4, hidden]", "[heads * 4, 16]")
    build(clone)
    commit_all(clone)
    command(tmp_path, "shardc", f'PYTHONPATH={ROOT} exec "{sys.executable}" -m shardc "$@"')
    command(tmp_path, "pip", "exit 0")
    return clone


def command(tmp_path: Path, name: str, script: str) -> None:
    path = tmp_path / "bin" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def shell(script: str, user: Path, **environment: str) -> tuple[int, str]:
    """A script, as CI runs it: the exit code, and all that it prints."""
    path = f"{user.parent / 'bin'}:{ENVIRONMENT['PATH']}"
    done = run(["bash", "-eo", "pipefail", "-c", script], user, PATH=path, **environment)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("text", blocks("yaml"))
def test_every_yaml_block_is_of_its_form(text: str, tmp_path: Path) -> None:
    keys = yaml.safe_load(text).keys()
    path = tmp_path / "block.yaml"
    path.write_text(text)
    (form,) = {FORMS[key] for key in keys if key in FORMS} or {""}
    checks = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", form, str(path)]
    if "repos" in keys:
        checks = [sys.executable, "-m", "pre_commit", "validate-config", str(path)]
    checked = run(checks, tmp_path)
    assert checked.returncode == 0, checked.stdout


def test_the_hooks_are_those_that_there_are() -> None:
    there = {hook["id"] for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())}
    configured = [block for block in YAML if "repos" in block]
    assert len(configured) == 2
    for block in configured:
        assert {hook["id"] for repo in block["repos"] for hook in repo["hooks"]} == there


def test_hooks_of_another_folder(user: Path) -> None:
    """Their arguments are ones that the commands take."""
    (user / "models").mkdir()
    for name in ("specs", "generated"):
        git("mv", name, "models/", cwd=user)
    manifest = {hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())}
    (_, elsewhere) = (block["repos"][0]["hooks"] for block in YAML if "repos" in block)
    for hook in elsewhere:
        entry = [*manifest[hook["id"]]["entry"].split(), *hook["args"]]
        assert run([str(user.parent / "bin" / entry[0]), *entry[1:]], user).returncode == 0
        assert re.search(hook["files"], "models/specs/tiny.yaml")


def test_the_action_is_used_with_inputs_that_it_has() -> None:
    steps = [step for workflow in WORKFLOWS for job in workflow["jobs"].values() for step in job["steps"]]
    used = [step for step in steps if step.get("uses", "").startswith("OWNER/shardc@")]
    assert len(used) == len(WORKFLOWS) == 2
    assert all(step["with"].keys() <= ACTION["inputs"].keys() for step in used)
    named = re.findall(r"steps\.shardc\.outputs\.([a-z-]+)", PAGE)
    assert set(named) <= ACTION["outputs"].keys()


def test_the_tables_of_inputs_is_the_action_s() -> None:
    listed = re.findall(r"^\| `([a-z-]+)` +\|", PAGE, re.MULTILINE)
    assert listed == list(ACTION["inputs"])


def test_no_expression_stands_in_a_script() -> None:
    steps = [step for workflow in WORKFLOWS for job in workflow["jobs"].values() for step in job["steps"]]
    assert [step for step in steps if EXPRESSION.search(step.get("run", ""))] == []


@pytest.mark.parametrize("text", blocks("sh"))
def test_shell_blocks(text: str, user: Path) -> None:
    code, said = shell(text, user)
    assert code == 0, said


def test_the_shell_block_fails_where_something_is_wrong(user: Path) -> None:
    edit(user / "specs" / "tiny.yaml", "tp: [1, 2, 4, 8]", "tp: [1, 2, 4]")
    code, said = shell(blocks("sh")[0], user)
    assert (code, "error[SHD501]: specs/plans/tiny.txt: out of date" in said) == (1, True)
    build(user)
    code, said = shell(blocks("sh")[0], user)
    assert (code, "narrows" in said) == (1, True)
    edit(user / "specs" / "tiny.yaml", "tp: [1, 2, 4]", "tp: [1, 2, 3]")
    code, said = shell(blocks("sh")[0], user)
    assert (code, "error[SHD201]" in said) == (1, True)


def test_gitlab(user: Path) -> None:
    base = git("rev-parse", "origin/main", cwd=user).stdout.strip()
    script = "\n".join(GITLAB["script"])
    code, said = shell(script, user, CI_MERGE_REQUEST_DIFF_BASE_SHA=base)
    assert code == 0, said
    assert [(user / path).read_text().startswith(MARK) for path in GITLAB["artifacts"]["paths"]] == [True]
    edit(user / "specs" / "tiny.yaml", "tp: [1, 2, 4, 8]", "tp: [1, 2, 4]")
    assert shell(script, user, CI_MERGE_REQUEST_DIFF_BASE_SHA=base)[0] == 1


def test_jq_reads_what_the_schema_has() -> None:
    properties = json.loads((ROOT / "schema" / "findings.v1.json").read_text())
    finding = (
        properties["$defs"]["finding"]["properties"].keys() | properties["$defs"]["checkpoint"]["properties"].keys()
    )
    named = [name for text in blocks("console") for name in re.findall(r"\.([a-z_]+)", text)]
    assert named
    assert set(named) <= finding | properties["properties"].keys()


GH = """\
echo "$@" >> "$CALLS"
for word in "$@"; do
  case $word in body=@*) cp "${word#body=@}" "$CALLS.body" ;; --paginate) cat "$COMMENTS" ;; esac
done
"""


@pytest.mark.parametrize(
    ("comments", "call"),
    [
        ("", "api --silent --method POST repos/o/r/issues/7/comments"),
        ("11\n12\n", "api --silent --method PATCH repos/o/r/issues/comments/11"),
    ],
)
def test_the_comment_is_written_once(user: Path, tmp_path: Path, comments: str, call: str) -> None:
    """`gh` is one that answers with the ids of comments, and keeps what it is called with."""
    one = Job(user, tmp_path / "runner")
    assert one.run("diff")[0] == 0
    command(tmp_path, "gh", GH)
    calls = tmp_path / "calls"
    (tmp_path / "comments").write_text(comments)
    (step,) = [step for step in WORKFLOWS[0]["jobs"]["shardc"]["steps"] if step.get("name") == "Comment"]
    code, said = shell(
        step["run"], user, COMMENT=one.output("comment-file"), ISSUES="repos/o/r/issues", NUMBER="7",
        CALLS=str(calls), COMMENTS=str(tmp_path / "comments"),
    )  # fmt: skip
    assert code == 0, said
    listing, writing = calls.read_text().splitlines()
    assert listing.startswith("api --paginate repos/o/r/issues/7/comments --jq .[] | select(")
    assert MARK in listing
    assert writing == f"{call} --field body=@{one.output('comment-file')}"
    assert Path(f"{calls}.body").read_text().startswith(f"{MARK}\n")


@pytest.mark.skipif(shutil.which("jq") is None, reason="needs jq")
def test_only_a_bot_s_comment_with_the_mark_is_written_again() -> None:
    (script,) = [step["run"] for step in WORKFLOWS[0]["jobs"]["shardc"]["steps"] if step.get("name") == "Comment"]
    (chosen,) = re.findall(r"^mine='(.*)'$", script, re.MULTILINE)
    comments = [
        {"id": 1, "user": {"type": "User"}, "body": f"{MARK}\nmine"},
        {"id": 2, "user": {"type": "Bot"}, "body": f"see {MARK}"},
        {"id": 3, "user": {"type": "Bot"}, "body": f"{MARK}\n### shardc"},
    ]
    done = subprocess.run(["jq", chosen], input=json.dumps(comments), capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "3\n")


def test_what_the_page_says_of_the_length_of_a_comment() -> None:
    assert f"at most {LIMIT:,} characters" in PAGE


@pytest.mark.parametrize("target", re.findall(r"\]\((?!http)([^)#]+)", PAGE))
def test_links_lead_somewhere(target: str) -> None:
    assert (ROOT / "docs" / target).exists()
