"""The library's formats and contracts: all load, and what each of them says."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from shardc.diagnostics import ShardcBug
from shardc.layout.evaluate import condition
from shardc.layout.expr import names
from shardc.layout.parse import parse
from shardc.layout.units import CutError, entries
from shardc.plan.formats import format_named
from shardc.plan.resolved import PartDim
from shardc.plan.sized import Weight, sized
from shardc.spec.library import contract_file, contract_names, format_file, format_names

_SCALE = ["F32", "BF16", "F16"]
_FLOAT = ["BF16", "F16", "F32"]
#: Parts of each format: name, dtypes, shape, whether the file may lack it.
FORMATS: dict[str, list[tuple[str, list[str], list[str], bool]]] = {
    "awq": [
        ("{stem}.qweight", ["I32"], ["in", "out * bits / 32"], False),
        ("{stem}.qzeros", ["I32"], ["in / group", "out * bits / 32"], False),
        ("{stem}.scales", ["F16", "BF16"], ["in / group", "out"], False),
    ],
    "dense": [],
    "fp4_e8m0": [
        ("{stem}.weight", ["I8"], ["out", "in / 2"], False),
        ("{stem}.scale", ["F8_E8M0"], ["out", "in / 32"], False),
    ],
    "fp8_block": [
        ("{stem}.weight", ["F8_E4M3"], ["out", "in"], False),
        ("{stem}.weight_scale_inv", ["F32", "BF16"], ["ceil(out / 128)", "ceil(in / 128)"], False),
    ],
    "fp8_block_e8m0": [
        ("{stem}.weight", ["F8_E4M3"], ["out", "in"], False),
        ("{stem}.scale", ["F8_E8M0"], ["ceil(out / 128)", "ceil(in / 128)"], False),
    ],
    "fp8_channel": [
        ("{stem}.weight", ["F8_E4M3"], ["out", "in"], False),
        ("{stem}.weight_scale", _SCALE, ["out", "1"], False),
        ("{stem}.input_scale", _SCALE, [], True),
    ],
    "fp8_tensor": [
        ("{stem}.weight", ["F8_E4M3"], ["out", "in"], False),
        ("{stem}.weight_scale", _SCALE, [], False),
        ("{stem}.input_scale", _SCALE, [], True),
    ],
    "gptq": [
        ("{stem}.qweight", ["I32"], ["in * bits / 32", "out"], False),
        ("{stem}.qzeros", ["I32"], ["in / group", "out * bits / 32"], False),
        ("{stem}.scales", ["F16", "BF16"], ["in / group", "out"], False),
        ("{stem}.g_idx", ["I32"], ["in"], True),
    ],
    "mlx_affine": [
        ("{stem}.weight", ["U32"], ["out", "in * bits / 32"], False),
        ("{stem}.scales", _FLOAT, ["out", "in / group"], False),
        ("{stem}.biases", _FLOAT, ["out", "in / group"], False),
    ],
    "mxfp4": [
        ("{stem}_blocks", ["U8"], ["out", "in / 32", "16"], False),
        ("{stem}_scales", ["U8", "F8_E8M0"], ["out", "in / 32"], False),
    ],
    "mxfp8": [
        ("{stem}.weight", ["F8_E4M3"], ["out", "in"], False),
        ("{stem}.weight_scale", ["U8", "F8_E8M0"], ["out", "in / 32"], False),
    ],
    "nvfp4": [
        ("{stem}.weight", ["U8"], ["out", "in / 2"], False),
        ("{stem}.weight_scale", ["F8_E4M3"], ["out", "in / 16"], False),
        ("{stem}.weight_scale_2", ["F32"], [], False),
        ("{stem}.input_scale", ["F32"], [], True),
    ],
    "nvfp4_ct": [
        ("{stem}.weight_packed", ["U8"], ["out", "in / 2"], False),
        ("{stem}.weight_scale", ["F8_E4M3"], ["out", "in / 16"], False),
        ("{stem}.weight_global_scale", ["F32"], [], False),
        ("{stem}.input_global_scale", ["F32"], [], True),
    ],
    "w4a16_ct": [
        ("{stem}.weight_packed", ["I32"], ["out", "in * bits / 32"], False),
        ("{stem}.weight_scale", _FLOAT, ["out", "ceil(in / group)"], False),
        ("{stem}.weight_zero_point", ["I32"], ["out * bits / 32", "ceil(in / group)"], True),
        ("{stem}.weight_shape", ["I64", "I32"], ["2"], False),
        ("{stem}.weight_g_idx", ["I32"], ["in"], True),
    ],
}
CONTRACTS = {
    "aligned_rows": ["row_bytes"],
    "causal_conv1d_l2norm": ["channels"],
    "fp8_block": ["n", "k"],
    "mamba2_group_norm": ["heads", "heads_per_group"],
    "marlin": ["n", "k"],
    "mxfp4_group": ["k"],
    "nvfp4_group": ["k"],
    "vocab_64": ["rows"],
}


def test_what_there_is() -> None:
    assert format_names() == tuple(FORMATS)
    assert contract_names() == tuple(CONTRACTS)


@pytest.mark.parametrize("name", FORMATS)
def test_formats(name: str) -> None:
    file = format_file(name)
    assert file.name == name
    assert [(part.name, part.dtypes, part.shape, part.optional) for part in file.parts] == FORMATS[name]


@pytest.mark.parametrize(
    ("name", "shape", "stored"),
    [
        # 576 rows are four and a half blocks of 128: five scales.
        ("fp8_block", (576, 7168), [(576, 7168), (5, 56)]),
        ("fp8_block", (64, 64), [(64, 64), (1, 1)]),
        ("fp8_block_e8m0", (576, 7168), [(576, 7168), (5, 56)]),
        ("fp8_channel", (64, 96), [(64, 96), (64, 1), ()]),
        ("fp8_tensor", (64, 96), [(64, 96), (), ()]),
        ("fp4_e8m0", (2048, 4096), [(2048, 2048), (2048, 128)]),
        ("mxfp4", (5760, 2880), [(5760, 90, 16), (5760, 90)]),
        ("mxfp8", (64, 96), [(64, 96), (64, 3)]),
        ("nvfp4", (4096, 2880), [(4096, 1440), (4096, 180), (), ()]),
        ("nvfp4_ct", (4096, 2880), [(4096, 1440), (4096, 180), (), ()]),
        # Without a config: 4 bits; groups of 128, of 64 in MLX, and one for all in compressed-tensors.
        ("awq", (1024, 512), [(512, 128), (4, 128), (4, 1024)]),
        ("gptq", (1024, 512), [(64, 1024), (4, 128), (4, 1024), (512,)]),
        ("mlx_affine", (1024, 512), [(1024, 64), (1024, 8), (1024, 8)]),
        ("w4a16_ct", (1024, 512), [(1024, 64), (1024, 1), (128, 1), (2,), (512,)]),
    ],
)
def test_what_a_weight_is_stored_as(name: str, shape: tuple[int, int], stored: list[tuple[int, ...]]) -> None:
    rows = dict(zip(("out", "in"), shape, strict=True))
    format = sized(format_named(name), Weight(rows, 0), {}, lambda part: None)
    assert [tuple(in_file(dim, rows) for dim in part.dims) for part in format.parts] == stored


def in_file(dim: PartDim, rows: Mapping[str, int]) -> int:
    """The size of a part's dim, for a weight of so many rows."""
    assert isinstance(dim.unit, int) and isinstance(dim.count, int)
    return dim.count if dim.role is None else entries((rows[dim.role],), dim.unit, dim.count, dim.ceil)


def test_nvfp4_takes_no_part_of_a_group() -> None:
    (_, columns) = format_named("nvfp4").parts[1].dims
    with pytest.raises(CutError, match=r"^2888 is not a multiple of 16$"):
        in_file(columns, {"in": 2888})


@pytest.mark.parametrize("name", CONTRACTS)
def test_contracts(name: str) -> None:
    """A contract asks about all of its parameters and about nothing else."""
    file = contract_file(name)
    assert file.name == name
    assert file.parameters == CONTRACTS[name]
    assert names(parse(file.require)) == set(CONTRACTS[name])


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        # 2880 BF16 columns are 5760 bytes; 2881 are 5762.
        ("aligned_rows", [{"row_bytes": 16}, {"row_bytes": 5760}], [{"row_bytes": 8}, {"row_bytes": 5762}]),
        # Two heads of 128 channels to a block: 3 heads do not fill blocks.
        ("causal_conv1d_l2norm", [{"channels": 256}, {"channels": 4096}], [{"channels": 128}, {"channels": 384}]),
        ("fp8_block", [{"n": 128, "k": 1536}], [{"n": 64, "k": 128}, {"n": 128, "k": 192}]),
        # 64 heads in 8 groups over 16 ranks are 4 heads: half a group.
        ("mamba2_group_norm", [{"heads": 8, "heads_per_group": 8}, {"heads": 64, "heads_per_group": 8}],
         [{"heads": 4, "heads_per_group": 8}]),
        ("marlin", [{"n": 64, "k": 128}], [{"n": 32, "k": 128}, {"n": 64, "k": 64}]),
        ("mxfp4_group", [{"k": 32}, {"k": 2880}], [{"k": 16}, {"k": 720}]),
        ("nvfp4_group", [{"k": 16}, {"k": 720}], [{"k": 8}, {"k": 180}]),
        ("vocab_64", [{"rows": 64}, {"rows": 16032 * 4}], [{"rows": 32}, {"rows": 16033}]),
    ],
)  # fmt: skip
def test_requirements(name: str, good: list[dict[str, int]], bad: list[dict[str, int]]) -> None:
    require = parse(contract_file(name).require)
    assert all(condition(require, sizes) for sizes in good)
    assert not any(condition(require, sizes) for sizes in bad)


def test_every_file_says_what_it_is_for() -> None:
    files = [format_file(name) for name in format_names()]
    contracts = [contract_file(name) for name in contract_names()]
    said = [file.about for file in files + contracts] + [text for file in contracts for text in (file.why, file.help)]
    assert all(len(text) > 20 for text in said)
    assert all(file.about.endswith(".") for file in files + contracts)


def test_a_file_that_is_not_there() -> None:
    with pytest.raises(ShardcBug, match=r"^library/formats/int3\.yaml: cannot read .*int3\.yaml: No such file"):
        format_file("int3")
