"""The library's formats and contracts: all load, and what each of them says."""

from __future__ import annotations

import pytest

from shardc.diagnostics import ShardcBug
from shardc.layout.evaluate import condition
from shardc.layout.expr import names
from shardc.layout.parse import parse
from shardc.layout.units import CutError
from shardc.plan.formats import format_named
from shardc.spec.library import contract_file, contract_names, format_file, format_names

#: Parts of each format: name, dtypes, shape, whether the file may lack it.
FORMATS: dict[str, list[tuple[str, list[str], list[str], bool]]] = {
    "dense": [],
    "fp8_block": [
        ("{stem}.weight", ["F8_E4M3"], ["out", "in"], False),
        ("{stem}.weight_scale_inv", ["F32", "BF16"], ["ceil(out / 128)", "ceil(in / 128)"], False),
    ],
    "nvfp4": [
        ("{stem}.weight", ["U8"], ["out", "in / 2"], False),
        ("{stem}.weight_scale", ["F8_E4M3"], ["out", "in / 16"], False),
        ("{stem}.weight_scale_2", ["F32"], [], False),
        ("{stem}.input_scale", ["F32"], [], True),
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
        ("nvfp4", (4096, 2880), [(4096, 1440), (4096, 180), (), ()]),
    ],
)
def test_what_a_weight_is_stored_as(name: str, shape: tuple[int, int], stored: list[tuple[int, ...]]) -> None:
    sizes = dict(zip(("out", "in"), shape, strict=True))
    found = [
        tuple(units_of((sizes[dim.role],), dim.unit, dim.ceil) for dim in part.dims)
        for part in format_named(name).parts
    ]
    assert found == stored


def test_nvfp4_takes_no_part_of_a_group() -> None:
    (_, columns) = format_named("nvfp4").parts[1].dims
    with pytest.raises(CutError, match=r"^2888 is not a multiple of 16$"):
        units_of((2888,), columns.unit, columns.ceil)


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
