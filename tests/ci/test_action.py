"""The GitHub Action: its form, and its steps in a repository with a pull request."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tests.ci.action import ACTION, EXPRESSION, STEPS, Job, expressions
from tests.ci.support import (
    ENVIRONMENT,
    build,
    commit_all,
    edit,
    git,
    needs_a_package_index,
    once,
    run,
    specs_repository,
)
from tests.cli.support import SPEC
from tests.diagnostics.sarif_schema import read_log
from tests.support import ROOT

MARK = "<!-- shardc:diff -->"
PINNED = re.compile(r"[a-z-]+/[a-z-]+@[0-9a-f]{40}")
HOSTILE = ["$(touch x)`touch x`\"; touch x; \"'; touch x; '${IFS}*|touch x&\ntouch x\n::error::x", "--help"]
#: The steps that read each input.
READ_BY = {
    "paths": ("check", "build", "diff"),
    "generated": ("check", "build"),
    "against": ("diff",),
    "base": ("diff",),
    "fail_on": ("diff",),
    "comment_file": ("diff",),
    "sarif_file": ("check",),
}


@pytest.fixture
def origin(tmp_path: Path) -> Path:
    """Where `main` is, and `change`, a branch from it."""
    origin = specs_repository(tmp_path / "origin")
    git("switch", "--quiet", "--create", "change", cwd=origin)
    return origin


def change(origin: Path, old: str = "[heads * 4, hidden]", new: str = "[heads * 4, 16]", *, built: bool = True) -> None:
    """One edit of the spec on the branch."""
    edit(origin / "specs" / "tiny.yaml", old, new)
    if built:
        build(origin)
    commit_all(origin, "change")


def job(origin: Path, tmp_path: Path, *, depth: int = 1, base: str = "main", **inputs: str) -> Job:
    """A job on a clone of the branch, as actions/checkout leaves it."""
    clone = tmp_path / "clone"
    deep = [] if depth == 0 else [f"--depth={depth}", "--single-branch"]
    git("clone", "--quiet", *deep, "--branch", "change", origin.as_uri(), str(clone), cwd=tmp_path)
    named = {name.replace("_", "-"): value for name, value in inputs.items()}
    return Job(clone, tmp_path / "runner", base, named)


def test_the_form_of_the_action() -> None:
    checked = run(
        [
            sys.executable,
            "-m",
            "check_jsonschema",
            "--builtin-schema",
            "vendor.github-actions",
            str(ROOT / "action.yml"),
        ],
        ROOT,
    )
    assert checked.returncode == 0, checked.stdout
    assert all(one["description"].endswith(".") for one in [*ACTION["inputs"].values(), *ACTION["outputs"].values()])


def test_other_actions_are_pinned_to_a_commit_and_their_version_is_named() -> None:
    used = [step["uses"] for step in STEPS if "uses" in step]
    assert len(used) == 1
    assert all(PINNED.fullmatch(one) for one in used)
    lines = [line for line in (ROOT / "action.yml").read_text().splitlines() if "uses:" in line]
    assert all(re.search(r"# v\d+\.\d+\.\d+$", line) for line in lines)


@pytest.mark.parametrize("step", [step for step in STEPS if "run" in step], ids=lambda step: step["name"])
def test_no_expression_stands_in_a_script(step: dict[str, object]) -> None:
    assert {key for key, _ in expressions(step)} <= {"env", "working-directory"}
    assert step["shell"] == "bash"


def test_the_expressions_are_few_and_of_what_the_action_has() -> None:
    everything = {found for step in STEPS for _, found in expressions(step)}
    ids = {step["id"] for step in STEPS if "id" in step}
    for expression in everything | {EXPRESSION.findall(one["value"])[0] for one in ACTION["outputs"].values()}:
        for part in re.split(r" \|\| | != ''", expression):
            scope, _, rest = part.partition(".")
            assert scope in ("", "inputs", "steps") or part == "github.base_ref"
            assert scope != "inputs" or rest in ACTION["inputs"]
            assert scope != "steps" or rest.split(".")[0] in ids


def test_a_change_that_is_in_order(origin: Path, tmp_path: Path) -> None:
    change(origin)
    one = job(origin, tmp_path)
    code, said = one.run_all()
    assert (code, said.splitlines()[-3:]) == (
        0,
        ["shardc check: exit code 0", "shardc build --check: exit code 0", "shardc diff: exit code 0"],
    ), said
    comment = Path(one.output("comment-file")).read_text()
    assert comment.startswith(f"{MARK}\n")
    assert "specs/tiny.yaml" in comment
    assert one.summary.read_text() == comment
    assert one.output("sarif-file") == ""


def test_everything_runs_and_the_last_step_fails(origin: Path, tmp_path: Path) -> None:
    change(origin, "tp: [1, 2, 4, 8]", "tp: [1, 2, 3]", built=False)
    one = job(origin, tmp_path, sarif_file="found.sarif")
    code, said = one.run_all()
    assert code == 1
    assert "::error title=shardc (SHD201),file=specs/tiny.yaml,line=6,col=15,endLine=6,endColumn=30::8 heads " in said
    assert "not compared: the specs have errors" in said
    assert MARK in one.summary.read_text()
    assert one.output("sarif-file") == str(one.workspace / "found.sarif")
    (result, *_) = read_log((one.workspace / "found.sarif").read_text())["runs"][0]["results"]
    assert result["ruleId"] == "SHD201"


def test_generated_modules_that_are_stale(origin: Path, tmp_path: Path) -> None:
    change(origin, built=False)
    code, said = job(origin, tmp_path).run_all()
    assert code == 1
    assert "::error title=shardc (SHD501),file=generated/tiny.py::generated/tiny.py: out of date" in said
    assert "shardc build --check: exit code 1" in said


def test_no_generated_package(origin: Path, tmp_path: Path) -> None:
    change(origin, built=False)
    code, said = job(origin, tmp_path, generated="").run_all()
    assert (code, "no generated package to compare" in said) == (0, True)


@pytest.mark.parametrize(("fail_on", "expected"), [("layout", 0), ("narrows", 1), ("layout,narrows", 1), ("sizes", 2)])
def test_classes_of_changes_that_fail(origin: Path, tmp_path: Path, fail_on: str, expected: int) -> None:
    change(origin, "tp: [1, 2, 4, 8]", "tp: [1, 2, 4]")
    code, said = job(origin, tmp_path, fail_on=fail_on).run_all()
    assert code == expected, said
    assert ("::error title=shardc (SHD6" in said) is (expected == 1)
    assert ("--fail-on sizes: no such class" in said) is (expected == 2)


def test_without_a_pull_request_there_is_no_diff(origin: Path, tmp_path: Path) -> None:
    one = job(origin, tmp_path, base="")
    code, said = one.run_all()
    assert code == 0
    assert "nothing to compare with" in said
    assert (one.output("comment-file"), one.summary.read_text()) == ("", "")


@pytest.mark.parametrize("depth", [0, 1, 2])
def test_what_main_has_meanwhile_is_no_change_of_the_branch_where_the_history_is_there(
    origin: Path, tmp_path: Path, depth: int
) -> None:
    change(origin)
    git("switch", "--quiet", "main", cwd=origin)
    (origin / "specs" / "other.yaml").write_text(SPEC.replace("name: tiny", "name: other"))
    build(origin)
    commit_all(origin)
    git("switch", "--quiet", "change", cwd=origin)
    one = job(origin, tmp_path, depth=depth)
    assert one.run("diff")[0] == 0
    comment = Path(one.output("comment-file")).read_text()
    assert "specs/tiny.yaml" in comment
    assert ("specs/other.yaml" in comment) is (depth > 0)


def test_a_commit_to_compare_with(origin: Path, tmp_path: Path) -> None:
    first = git("rev-parse", "main", cwd=origin).stdout.strip()
    change(origin)
    one = job(origin, tmp_path, depth=0, against=first)
    assert one.run("diff")[0] == 0
    assert "specs/tiny.yaml" in Path(one.output("comment-file")).read_text()


def test_a_base_that_nobody_knows(origin: Path, tmp_path: Path) -> None:
    change(origin)
    one = job(origin, tmp_path, base="release/1")
    code, said = one.run_all()
    assert code == 2
    assert (
        "::error title=shardc::no diff: release/1 is no commit here, and origin gave none of that name%0Ahelp: "
        "give `against` a branch of origin, or check out with `fetch-depth: 0`"
    ) in said.splitlines()
    assert one.output("comment-file") == ""


def test_in_a_folder_with_other_paths(origin: Path, tmp_path: Path) -> None:
    (origin / "my models").mkdir()
    for name in ("specs", "generated"):
        git("mv", name, "my models/", cwd=origin)
    git("mv", "my models/specs/tiny.yaml", "my models/specs/a b.yaml", cwd=origin)
    edit(origin / "my models" / "specs" / "a b.yaml", "tp: [1, 2, 4, 8]", "tp: [1, 2, 3]")
    commit_all(origin)
    one = job(
        origin, tmp_path, working_directory="my models", paths="specs/a b.yaml\n\nspecs\n", comment_file="a b.md",
        sarif_file="found.sarif",
    )  # fmt: skip
    code, said = one.run_all()
    assert code == 1
    assert ",file=my models/specs/a b.yaml,line=6," in said
    assert one.output("comment-file") == str(one.workspace / "my models" / "a b.md")
    found = read_log((one.workspace / "my models" / "found.sarif").read_text())["runs"][0]["results"][0]
    uri = found["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri == "my%20models/specs/a%20b.yaml"


@pytest.mark.parametrize("name", READ_BY)
@pytest.mark.parametrize("value", HOSTILE, ids=["commands", "option"])
def test_inputs_are_words_not_commands(origin: Path, tmp_path: Path, name: str, value: str) -> None:
    change(origin)
    one = job(origin, tmp_path, **{name: value})
    _, said = one.run(*READ_BY[name])
    assert not list(tmp_path.rglob("x")), said
    assert not [line for line in said.splitlines() if line.startswith("::error::")]
    assert "Show this message and exit" not in said
    written = {("install", "shardc"), ("check", "sarif-file"), ("diff", "comment-file")}
    assert one.outputs.keys() <= written | {(step, "code") for step in READ_BY[name]}


def test_every_input_is_tried_with_hostile_words() -> None:
    harmless = {"working-directory", "python-version"}
    assert ACTION["inputs"].keys() - harmless == {name.replace("_", "-") for name in READ_BY} - {"base"}


def test_the_installation(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    needs_a_package_index(tmp_path)

    def install(folder: Path) -> None:
        one = Job(folder, folder / "runner")
        code, said = one.run("install")
        assert code == 0, said
        (folder / "command").write_text(one.output("shardc"))

    command = (once(tmp_path_factory, "action", install) / "command").read_text()
    user = specs_repository(tmp_path / "user")
    done = run([command, "check"], user, PATH=ENVIRONMENT["PATH"])
    assert (done.returncode, done.stdout) == (0, "1 spec clean (4 plans checked)\n")
