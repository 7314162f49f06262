"""`shardc plan`: the table, single tensors, markdown, and the sweep over sizes."""

from __future__ import annotations

import json

import pytest

from tests.cli.support import Folder, invoke
from tests.plan.support import PIPELINE_CONFIG, pipeline
from tests.support import ROOT

LLAMA = [ROOT / "specs" / "llama.yaml", "--config", ROOT / "specs" / "checkpoints" / "llama-3.1-8b.json"]
TINY = ["specs/tiny.yaml", "--config", "specs/checkpoints/tiny.json"]
GLM = [ROOT / "specs" / "glm5_next.yaml", "--checkpoint", ROOT / "specs" / "checkpoints" / "glm-5.3-flash-nvfp4.json"]

TABLE = """\
tensor                                          layers  full shape     shard            per rank      units/rank  rank total
----------------------------------------------  ------  -------------  ---------------  ------------  ----------  ----------
model.embed_tokens.weight                               128256 x 4096  vocab_rows       16032 x 4096  -            125.2 MiB
model.layers.*.input_layernorm.weight           x32     4096           replicated       4096          -              0.2 MiB
model.layers.*.post_attention_layernorm.weight  x32     4096           replicated       4096          -              0.2 MiB
model.layers.*.self_attn.q_proj.weight          x32     4096 x 4096    channel_rows     512 x 4096    4 x 128      128.0 MiB
model.layers.*.self_attn.k_proj.weight          x32     1024 x 4096    channel_rows     128 x 4096    1 x 128       32.0 MiB
model.layers.*.self_attn.v_proj.weight          x32     1024 x 4096    channel_rows     128 x 4096    1 x 128       32.0 MiB
model.layers.*.self_attn.o_proj.weight          x32     4096 x 4096    channel_cols     4096 x 512    4 x 128      128.0 MiB
model.layers.*.mlp.gate_proj.weight             x32     14336 x 4096   column_parallel  1792 x 4096   -            448.0 MiB
model.layers.*.mlp.up_proj.weight               x32     14336 x 4096   column_parallel  1792 x 4096   -            448.0 MiB
model.layers.*.mlp.down_proj.weight             x32     4096 x 14336   row_parallel     4096 x 1792   -            448.0 MiB
model.norm.weight                                       4096           replicated       4096          -               8192 B
lm_head.weight                                          128256 x 4096  vocab_rows       16032 x 4096  -            125.2 MiB

291 tensors   full 14.96 GiB   per rank 1.87 GiB   replicated 0.5 MiB (0.03% of a rank)
mesh tp=8, pp=1; shown: tp rank 0, pp rank 0
masked_all_reduce over tp: model.embed_tokens.weight
all_reduce over tp: model.layers.{layer}.self_attn.o_proj.weight, model.layers.{layer}.mlp.down_proj.weight
gather over tp: lm_head.weight
"""


def test_the_table_of_llama() -> None:
    result = invoke("plan", *LLAMA, "--tp", "8")
    assert (result.exit_code, result.stdout) == (0, TABLE)


def test_markdown_has_the_same_rows() -> None:
    lines = invoke("plan", *LLAMA, "--tp", "8", "--format", "markdown").stdout.splitlines()
    assert lines[:3] == [
        "| tensor | layers | full shape | shard | per rank | units/rank | rank total |",
        "|---|---|---|---|---|---|--:|",
        "| `model.embed_tokens.weight` |  | 128256 x 4096 | vocab_rows | 16032 x 4096 | - | 125.2 MiB |",
    ]
    assert len([line for line in lines if line.startswith("| `")]) == 12
    assert lines[15] == "291 tensors   full 14.96 GiB   per rank 1.87 GiB   replicated 0.5 MiB (0.03% of a rank)  "


def test_one_tensor_in_full() -> None:
    result = invoke("plan", *LLAMA, "--tp", "8", "--rank", "3", "--tensor", "*.0.self_attn.k_proj.*")
    assert (
        result.stdout
        == """\
model.layers.0.self_attn.k_proj.weight
  shape    [kv_heads * head_dim, hidden] = [8 * 128, 4096]
  file     BF16 [1024, 4096], 8,388,608 bytes
  rank     tp 3, pp 0: channel_rows
  local    BF16 [128, 4096], 1,048,576 bytes
  dim 0    384..512 of 1024
  dim 1    0..4096 of 4096
  bytes    3,145,728..4,194,304 of the tensor
"""
    )


def test_columns_are_no_byte_range() -> None:
    out = invoke("plan", *LLAMA, "--tp", "8", "--tensor", "model.layers.31.self_attn.o_proj.weight").stdout
    assert "  dim 1    0..512 of 4096\n" in out
    assert "bytes of" not in out and "  bytes  " not in out


def test_no_tensor_of_that_name() -> None:
    out = invoke("plan", *LLAMA, "--tensor", "model.layers.32.*").stdout
    assert out == "no tensor on this rank matches model.layers.32.*\n"


@pytest.mark.parametrize("rank", ["8", "100", "-1"])
def test_a_rank_outside_the_mesh(folder: Folder, rank: str) -> None:
    result = invoke("plan", *TINY, "--tp", "8", f"--rank={rank}")
    assert (result.exit_code, result.stdout) == (2, "")
    if rank != "-1":
        assert f"Error: rank {rank} is outside 0..7" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--tp", "0"], "0 is neither a size nor a range A..B"),
        (["--tp", "8..1"], "8..1 is empty"),
        (["--tp", "1..10000"], "1..10000 is neither a size nor a range A..B"),
        (["--tp", "two"], "two is neither a size nor a range A..B"),
        (["--ep", "2"], "no axis of tiny is over ep"),
        (["--pp", "1..2"], "no axis of tiny is over pp"),
        (["--mesh", "attn_tp=2"], "no axis of tiny is over attn_tp"),
        (["--mesh", "attn_tp=1"], "no axis of tiny is over attn_tp"),
        (["--mesh", "tp=2"], "tp has an option of its own: --tp 2"),
        (["--mesh", "attn_tp"], "attn_tp is not NAME=N or NAME=A..B"),
        (["--mesh", "=2"], "=2 is not NAME=N or NAME=A..B"),
        (["--mesh", "cp=0"], "0 is neither a size nor a range A..B"),
        (["--mesh", "cp=2", "--mesh", "cp=4"], "cp is given twice"),
        (["--format", "concise"], "'concise' is not one of 'text', 'markdown', 'json'."),
        (["--checkpoint", "specs/checkpoints/tiny.json"], "give --config or --checkpoint"),
    ],
)
def test_usage(folder: Folder, arguments: list[str], words: str) -> None:
    result = invoke("plan", *TINY, *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert words in result.stderr


def test_neither_config_nor_checkpoint(folder: Folder) -> None:
    result = invoke("plan", "specs/tiny.yaml")
    assert result.exit_code == 2
    assert "give --config or --checkpoint" in result.stderr


def test_a_size_that_does_not_work_is_a_finding(folder: Folder) -> None:
    result = invoke("plan", *TINY, "--tp", "3")
    assert result.exit_code == 1
    assert result.stdout.startswith("error[SHD201]: 8 heads cannot be dealt to 3 tp ranks: 2.67 each\n")


def test_a_sweep(folder: Folder) -> None:
    result = invoke("plan", *TINY, "--tp", "1..4")
    assert (result.exit_code, result.stdout) == (0, """\
mesh  per rank  why not
----  --------  -------------------------------------------------------
tp=1    4096 B
tp=2    2048 B
tp=3         -  SHD201 8 heads cannot be dealt to 3 tp ranks: 2.67 each
tp=4    1024 B

valid: tp=1; tp=2; tp=4
""")  # fmt: skip


def test_the_sweep_of_llama() -> None:
    report = json.loads(invoke("plan", *LLAMA, "--tp", "1..64", "--format", "json").stdout)
    assert (report["format_version"], report["spec"]) == (1, "llama")
    meshes = {row["mesh"]["tp"]: row for row in report["meshes"]}
    assert list(meshes) == list(range(1, 65))
    assert [tp for tp, row in meshes.items() if row["valid"]] == [1, 2, 4, 8, 16, 32]
    assert (meshes[1]["local_bytes"], meshes[8]["local_bytes"]) == (16_060_522_496, 2_008_031_232)
    assert meshes[3]["local_bytes"] is None
    assert meshes[7]["reasons"] == ["SHD201 8 kv_heads cannot be dealt to 7 tp ranks: 1.14 each"]
    assert meshes[64]["reasons"] == ["SHD204 4 heads of one kv_heads cannot be shared by 8 ranks"]


def test_the_sweep_of_glm_in_nvfp4() -> None:
    report = json.loads(invoke("plan", *GLM, "--tp", "1..64", "--format", "json").stdout)
    meshes = {row["mesh"]["tp"]: row for row in report["meshes"]}
    assert [tp for tp, row in meshes.items() if row["valid"]] == [1, 2, 4, 8, 16, 32, 64]
    assert "SHD201 64 kda_heads cannot be dealt to 48 tp ranks: 1.33 each" in meshes[48]["reasons"]
    moe = "SHD201 2048 moe_inter cannot be dealt to 48 tp ranks: 128 granules of 16, 2.67 (42.67 elements) each"
    assert moe in meshes[48]["reasons"]


@pytest.fixture
def pipe(folder: Folder) -> list[str]:
    """The arguments for a spec with a pipeline and a mesh dim of its own for attention."""
    (folder.path / "pipe.yaml").write_text(pipeline())
    (folder.path / "config.json").write_text(json.dumps(PIPELINE_CONFIG))
    return ["pipe.yaml", "--config", "config.json"]


def test_a_stage(pipe: list[str]) -> None:
    """World rank 5 of tp=2, attn_tp=1, ep=1, pp=3 is rank 1 of tp on the last stage."""
    result = invoke("plan", *pipe, "--tp", "2", "--pp", "3", "--rank", "5")
    assert (result.exit_code, result.stdout) == (0, """\
tensor                        layers  full shape  shard                            per rank   units/rank  rank total
----------------------------  ------  ----------  -------------------------------  ---------  ----------  ----------
embed.weight                          10 x 4      vocab_rows                       8 x 4      -                 64 B
norm.weight                           4           replicated                       4          -                  8 B
layers.*.o.weight                     4 x 16      channel_cols                     4 x 16     4 x 4            128 B
layers.*.experts.*.up.weight  x5      6 x 4       expert_slices + column_parallel  3 x 4      -                120 B
layers.*.experts.down                 5 x 6 x 4   expert_slices + row_parallel     5 x 3 x 4  -                120 B

27 tensors   full 2264 B   per rank 440 B   replicated 152 B (34.55% of a rank)   padding 48 B
mesh tp=2, attn_tp=1, ep=1, pp=3; shown: tp rank 1, attn_tp rank 0, ep rank 0, pp rank 2
ranks differ: 368 B to 736 B
masked_all_reduce over tp: embed.weight
gather over tp: head.weight
all_reduce over tp: layers.{layer}.experts.down
""")  # fmt: skip


def test_a_sweep_over_several_mesh_dims(pipe: list[str]) -> None:
    result = invoke("plan", *pipe, "--mesh", "attn_tp=1..3", "--pp", "1..2")
    assert (result.exit_code, result.stdout) == (0, """\
mesh            per rank  why not
--------------  --------  ------------------------------------------------------------
attn_tp=1 pp=1    2264 B
attn_tp=2 pp=1    1944 B
attn_tp=3 pp=1         -  SHD201 4 heads cannot be dealt to 3 attn_tp ranks: 1.33 each
attn_tp=1 pp=2    1040 B
attn_tp=2 pp=2     848 B
attn_tp=3 pp=2         -  SHD201 4 heads cannot be dealt to 3 attn_tp ranks: 1.33 each

valid: attn_tp=1, pp=1; attn_tp=2, pp=1; attn_tp=1, pp=2; attn_tp=2, pp=2
""")  # fmt: skip


def test_all_ranks_in_the_order_of_world_ranks(pipe: list[str]) -> None:
    out = invoke("plan", *pipe, "--ep", "2", "--pp", "2", "--mesh", "attn_tp=2", "--format", "json").stdout
    ranks = [(one["rank"]["attn_tp"], one["rank"]["ep"], one["rank"]["pp"]) for one in json.loads(out)["ranks"]]
    assert ranks == [(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0), (0, 0, 1), (1, 0, 1), (0, 1, 1), (1, 1, 1)]


def test_what_help_says_of_ranks() -> None:
    words = " ".join(invoke("plan", "--help").stdout.split())
    assert "World rank: tp varies fastest and pp slowest, the others between by their names" in words
    assert "tp rank + tp size * (ep rank + ep size * pp rank)" in words


def test_a_tensor_that_would_be_nowhere_is_a_finding(folder: Folder) -> None:
    folder.edit("    at: layers.{layer}\n", "    at: layers.{layer}\n    only: {tp: first}\n")
    result = invoke("plan", *TINY)
    assert result.exit_code == 1
    assert "tp splits its dim 0 (heads), and `only` keeps q_proj.weight to the first rank" in result.stdout
