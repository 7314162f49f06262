"""The committed plan sheets: current, one for each target, and shown to reviewers."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from shardc.cli.specs import check_file, spec_files
from shardc.emit.tree import Tree
from shardc.review.sheets.tree import sheet_trees
from tests.support import ROOT

PLANS = ROOT / "specs" / "plans"
NAMES = sorted(path.name.removesuffix(".json") for path in (ROOT / "specs" / "checkpoints").glob("*.json"))


@pytest.fixture(scope="module")
def built() -> Tree:
    checked = [check_file(path)[0] for path in spec_files((ROOT / "specs",))]
    return sheet_trees(one for one in checked if one is not None)[PLANS]


def lines(name: str) -> list[str]:
    """The lines of a committed sheet, columns one blank apart."""
    return [" ".join(line.split()) for line in (PLANS / f"{name}.txt").read_text().splitlines()]


def test_there_is_one_for_each_recorded_checkpoint(built: Tree) -> None:
    assert {path.name for path in PLANS.iterdir()} == {f"{name}.txt" for name in NAMES} == set(built.files)


@pytest.mark.parametrize("name", NAMES)
def test_it_is_what_shardc_builds(built: Tree, name: str) -> None:
    assert (PLANS / f"{name}.txt").read_text() == built.files[f"{name}.txt"]


@pytest.mark.parametrize("name", NAMES)
def test_it_is_plain_text_without_trailing_blanks(name: str) -> None:
    text = (PLANS / f"{name}.txt").read_text()
    assert text.isascii() and text.endswith("\n")
    assert [line for line in text.splitlines() if line != line.rstrip()] == []


def test_git_marks_modules_as_generated_and_sheets_not() -> None:
    """A pull request folds away what `linguist-generated` marks; a sheet is there to be read in it."""
    asked = ["generated/llama.py", "specs/plans/llama-3.1-8b.txt"]
    said = subprocess.run(
        ["git", "check-attr", "linguist-generated", *asked], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert said.stdout.splitlines() == [
        "generated/llama.py: linguist-generated: true",
        "specs/plans/llama-3.1-8b.txt: linguist-generated: unspecified",
    ]


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        (
            "llama-3.1-8b",
            [
                "# llama-3.1-8b: 291 tensors; docs/plan-sheets.md says how to read it",
                "# claimed: tp 1, 2, 4, 8, 16, 32; pp 1, 2, 4",
                "tensor dtype tp=1 tp=2 tp=4 tp=8 tp=16 tp=32 (tp=64) shard",
                "model.layers.*.self_attn.q_proj.weight x32 BF16 4096 x 4096 2048 x 4096 1024 x 4096 512 x 4096 "
                "256 x 4096 128 x 4096 SHD204 channel_rows; layers over pp",
                "model.layers.*.self_attn.k_proj.weight x32 BF16 1024 x 4096 512 x 4096 256 x 4096 128 x 4096 "
                "* 128 x 4096 * 128 x 4096 * 128 x 4096 channel_rows; layers over pp",
                "model.norm.weight BF16 4096 4096 4096 4096 4096 4096 4096 replicated; pp last",
                "per rank 14.96 GiB 7.48 GiB 3.74 GiB 1.87 GiB 989.8 MiB 527.1 MiB -",
                "per rank, pp=4 3.25..4.23 GiB 1.63..2.11 GiB 832.1 MiB..1.06 GiB 416.1..541.4 MiB 216.1..278.8 MiB "
                "116.1..147.4 MiB",
                "tp=64: SHD204 4 heads of one kv_heads cannot be shared by 8 ranks",
                "model.layers.*.self_attn.k_proj.weight, dim 0 tp=32 128(r//4)..+128",
                "layers pp=4 8r..+8",
                "model.layers.*.mlp.down_proj.weight all_reduce tp",
            ],
        ),
        (
            "qwen3-30b-a3b",
            [
                "# claimed: tp 1, 2, 4, 8, 16, 32; ep 1, 2, 4, 8",
                "model.layers.*.mlp.experts.*.down_proj.weight x6144 BF16 2048 x 768 2048 x 384 2048 x 192 2048 x 96 "
                "2048 x 48 2048 x 24 2048 x 12 expert_slices + row_parallel; layers over pp, experts over ep",
                "per rank 56.87 GiB 28.45 GiB 14.24 GiB 7.15 GiB 3.61 GiB 1.84 GiB -",
                "per rank, ep=8 9.62 GiB 4.82 GiB 2.42 GiB 1.25 GiB 674.6 MiB 373.5 MiB",
                "model.layers.*.self_attn.k_proj.weight, dim 0 tp=8 128(r//2)..+128",
                "experts ep=8 16r..+16",
                "model.layers.*.mlp.experts.*.down_proj.weight combine ep",
            ],
        ),
        (
            "glm-5.3-flash",
            [
                "tensor dtype tp=1 tp=2 tp=4 tp=8 tp=16 (tp=32) (tp=64) shard",
                "model.language_model.layers.*.self_attn.A_log x34 F32 64 32 16 8 4 2 1 head_rows; layers over pp",
                "model.language_model.layers.*.mlp.down_proj.weight_scale_inv x3 F32 32 x 96 32 x 48 32 x 24 32 x 12 "
                "32 x 6 32 x 3 SHD201 row_parallel; layers over pp",
                "per rank 304.73 GiB 152.64 GiB 76.60 GiB 38.57 GiB 19.56 GiB - -",
                "causal_conv1d_l2norm: channels 16384 8192 4096 2048 1024 - - channels % 256 == 0",
                "tp=32: SHD201 2048 moe_inter cannot be dealt to 32 tp ranks: 16 granules of 128, 0.5 (64 elements) each",
                "experts ep=8 36r..+36",
            ],
        ),
    ],
)  # fmt: skip
def test_lines_that_are_known(name: str, wanted: list[str]) -> None:
    found = lines(name)
    assert [line for line in wanted if line not in found] == []


def test_the_page_says_how_to_read_what_is_there() -> None:
    """The examples in words are those of the sheets, or of the test of words."""
    page = (ROOT / "docs" / "plan-sheets.md").read_text()
    words = (ROOT / "tests" / "review" / "sheets" / "test_words.py").read_text()
    sheets = "".join(path.read_text() for path in sorted(Path(PLANS).iterdir()))
    table = page.split("| words | rank r keeps |")[1].split("\n\n")[0]
    examples = [line.split("`")[1] for line in table.splitlines()[2:]]
    assert len(examples) == 8
    assert [one for one in examples if not one.startswith("irregular") and one not in words and one not in sheets] == []
