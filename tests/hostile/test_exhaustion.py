"""Small texts that ask for much: refused before the work is done."""

from __future__ import annotations

import pytest

from tests.hostile.support import outcome

HEAD = "spec: 1\nname: x\narchitectures: [X]\ndtype: BF16\n"
TOY = "targets: [{checkpoint: toy}]\n"


def tensor(shape: str, field: str = "") -> str:
    return f"groups: {{g: {{tensors: {{w: {{shape: ['{shape}'], shard: replicated{field}}}}}}}}}\n"


def loop(*counts: str, shape: str = "1", when: str = "true") -> str:
    indices = [f"i{n}" for n in range(len(counts))]
    at = ".".join(f"{{{index}}}" for index in indices)
    ranges = ", ".join(f"{index}: {count}" for index, count in zip(indices, counts, strict=True))
    body = f"at: 't.{at}', for: {{{ranges}}}, when: '{when}', tensors: {{w: {{shape: ['{shape}'], shard: replicated}}}}"
    return f"groups: {{g: {{{body}}}}}\n"


def lets(count: int, formula: str) -> str:
    """Lets a0, a1, …, each a formula of the one before."""
    rest = "".join(f"  a{i}: {formula.replace('a', f'a{i - 1}')}\n" for i in range(1, count))
    return f"let:\n  a0: 1 + 1\n{rest}"


def refused(text: str, *codes: str) -> None:
    found, code = outcome(HEAD + text)
    assert code is None
    assert set(found) == set(codes)


@pytest.mark.parametrize("text", ["[" * 100_000, "{a: " * 50_000, "- " * 100_000, "a: " + "[" * 33 + "]" * 33])
def test_nesting(text: str) -> None:
    codes, code = outcome(text)
    assert code is None
    assert set(codes) <= {"SHD001", "SHD005"}


@pytest.mark.parametrize("size", [250_001, 20_000_000])
def test_a_large_file(size: int) -> None:
    assert outcome("#" * size) == (["SHD005"], None)


def test_a_file_of_the_largest_size() -> None:
    codes, code = outcome(HEAD + "x: [" + "a," * 100_000 + "]\n")
    assert (codes, code) == (["SHD101", "SHD102"], None)


def test_many_unknown_fields() -> None:
    codes, _ = outcome(HEAD + "".join(f"field{i}: 1\n" for i in range(15_000)))
    assert sorted(codes) == ["SHD005", "SHD101", *["SHD102"] * 199]


def test_many_unknown_names() -> None:
    tensors = ", ".join(f"w{i}: {{shape: [q{i}], shard: replicated}}" for i in range(4_000))
    symbols = "config: {" + ", ".join(f"s{i}: k" for i in range(300)) + "}\n"
    codes, _ = outcome(f"{HEAD}{symbols}groups: {{g: {{tensors: {{{tensors}}}}}}}\n")
    assert codes == ["SHD103"] * 200


@pytest.mark.parametrize(
    "formula",
    [
        "1" * 601, "1 + " * 50_000 + "1", "(" * 290 + "1" + ")" * 290, "1" + "+1" * 99, "not " * 145 + "true", "x" + ".a" * 199,
        "x" + "[0]" * 90, "min(1," * 80 + "1" + ")" * 80, "2*(" * 65 + "1" + ")" * 65,
    ],
    ids=lambda formula: formula[:12],
)  # fmt: skip
def test_long_and_deep_formulas(formula: str) -> None:
    refused(tensor(formula), "SHD104")


@pytest.mark.parametrize(
    "formula", ["9" * 400, "9" * 18 + " * " + "9" * 18, "9007199254740992", "4503599627370496 + 4503599627370496"]
)
def test_large_numbers(formula: str) -> None:
    codes, code = outcome(HEAD + tensor(formula) + TOY)
    assert code is None
    assert codes in (["SHD104"], ["SHD112"])


def test_lets_that_double() -> None:
    refused(lets(60, "a | a") + tensor("a59"), *["SHD005"] * 4)


def test_lets_that_nest() -> None:
    refused(lets(300, "a + 1") + tensor("a299"), "SHD005")


def test_lets_of_a_group_that_double_those_of_the_spec() -> None:
    group = (
        "groups: {g: {let: {b0: " + " + ".join(["a7"] * 30) + "}, tensors: {w: {shape: [b0], shard: replicated}}}}\n"
    )
    refused(lets(8, "a * a") + group, "SHD005")


def test_a_shape_of_large_lets() -> None:
    refused(lets(8, "a * a") + tensor(" + ".join(["a7"] * 30)), "SHD005")


def test_a_contract_of_large_lets() -> None:
    given = " + ".join(["a7"] * 30)
    contract = f"contracts: [{{use: aligned_rows, with: {{row_bytes: {given}}}}}]\n"
    refused(lets(8, "a * a") + tensor("a0") + contract, "SHD005")


def test_many_lets() -> None:
    refused(lets(1_000, "a") + tensor("a999"), "SHD101")


@pytest.mark.parametrize("count", ["1000000000", "9007199254740991", "1000001"])
def test_long_loops(count: str) -> None:
    refused(loop(count) + TOY, "SHD112")


def test_loops_in_loops() -> None:
    refused(loop("1000", "1000", "1000", "1000") + TOY, "SHD112")
    refused(loop("1", "1", "1", "1", "1") + TOY, "SHD101")


def test_a_condition_or_a_shape_of_each_index() -> None:
    refused(loop("100000", when="i0 > 5") + TOY, "SHD112")
    refused(loop("300", "300", when="i0 > i1") + TOY, "SHD112")
    refused(loop("100000", shape="i0") + TOY, "SHD112")


def test_many_entries_of_many_tensors() -> None:
    names = ", ".join(f"w{n}: {{shape: [1], shard: replicated}}" for n in range(1_000))
    refused(f"groups: {{g: {{at: 't.{{i}}', for: {{i: 900000}}, tensors: {{{names}}}}}}}\n{TOY}", "SHD112")


def test_groups_that_take_over_a_large_one() -> None:
    names = ", ".join(f"w{n}: {{shape: [1], shard: replicated}}" for n in range(1_000))
    likes = "".join(f"  g{n}: {{at: p{n}, like: g}}\n" for n in range(1_000))
    refused(f"groups:\n  g: {{tensors: {{{names}}}}}\n{likes}", "SHD005")


@pytest.mark.parametrize(
    "layout",
    [
        "9999 * (9999 * (0 * heads))",
        "99999 * (99999 * heads)",
        "1000001 * heads",
        "2 * (" * 30 + "heads" + ")" * 30,
        " | ".join(["90000 * heads"] * 30),
    ],
    ids=lambda layout: layout[:20],
)
def test_layouts_of_many_regions(layout: str) -> None:
    text = HEAD + "axes: {heads: {size: 8}}\n" + tensor(layout).replace("replicated", "segmented_rows") + TOY
    codes, code = outcome(text)
    assert code is None
    assert set(codes) <= {"SHD112", "SHD210"}


@pytest.mark.parametrize(
    "target",
    [
        "tp: [" + ", ".join(str(n) for n in range(4033, 4097)) + "]",
        "tp: [" + ", ".join(str(n) for n in range(1, 66)) + "]",
        "tp: [4096], ep: [4096]",
        "tp: [4097]",
        "tp: [1, 2, 4, 2]",
        "tp: [1, 2, 4, 8, 16, 32, 64, 3, 5, 6, 7, 9, 10, 11, 12, 13, 14], ep: [1, 2, 4, 8, 16, 32, 64, 3, 5, 6, 7, 9, 10, 11, 12, 13]",
    ],
    ids=lambda target: target[:24],
)
def test_meshes(target: str) -> None:
    refused(tensor("8") + f"targets: [{{checkpoint: toy, {target}}}]\n", "SHD101")


def test_the_largest_meshes_that_are_tried() -> None:
    sizes = [1 << n for n in range(13)]
    axes = "axes: {a: {size: 4096}, b: {size: 4096, over: ep}}\n"
    text = f"{axes}groups: {{g: {{tensors: {{w: {{shape: [b, a, 64], shard: column_parallel + row_parallel}}}}}}}}\n"
    codes, code = outcome(
        f"{HEAD}{text}targets: [{{checkpoint: toy, tp: {sizes}}}, {{checkpoint: toy, ep: {sizes}}}]\n"
    )
    assert codes == [] and code is not None


def test_many_targets() -> None:
    refused(tensor("8") + "targets:\n" + "".join(f"  - {{checkpoint: c{n}}}\n" for n in range(5_000)), "SHD101")


def test_many_axes() -> None:
    axes = ", ".join(f"a{n}: {{size: 8, within: a{n + 1}}}" for n in range(3_000))
    refused(f"axes: {{{axes}, a3000: {{size: 8}}}}\n{tensor('8')}", "SHD101")


def test_axes_within_axes() -> None:
    axes = ", ".join(f"a{n}: {{size: 8, within: a{n + 1}}}" for n in range(99))
    text = f"axes: {{{axes}, a99: {{size: 8}}}}\n{tensor('a0').replace('replicated', 'column_parallel')}{TOY}"
    codes, code = outcome(HEAD + text)
    assert codes == [] and code is not None


def test_mesh_dims_without_end() -> None:
    axes = ", ".join(f"a{n}: {{size: 8, over: dim{n}}}" for n in range(99))
    codes, code = outcome(HEAD + f"axes: {{{axes}}}\n{tensor('8')}{TOY}")
    assert codes == [] and code is not None


@pytest.mark.parametrize("glob", ["*a" * 149, "*" * 300, "*.*.*.*.*.*.*.*.*x"])
def test_globs(glob: str) -> None:
    ignore = "".join(f"  - {{name: '{glob}', because: no reason}}\n" for _ in range(100))
    codes, code = outcome(HEAD + tensor("8") + "ignore:\n" + ignore + TOY)
    assert codes == [] and code is not None


def test_an_index_twice_in_a_name() -> None:
    group = "{at: 'a.{i}', for: {i: 2}, tensors: {'{i}.w': {shape: [1], shard: replicated}}}"
    codes, code = outcome(f"{HEAD}groups: {{g: {group}}}\n{TOY}")
    assert codes == [] and code is not None


def permuted(shape: str, origin: str, to: str) -> str:
    """One tensor whose rows change places."""
    output = f"{{permute: w, from: '{origin}', to: '{to}'}}"
    kind = "channel_rows" if "heads" in shape else "replicated"
    tensors = f"{{w: {{shape: ['{shape}'], shard: {kind}}}}}"
    return f"axes: {{heads: {{size: 4096}}}}\ngroups: {{g: {{tensors: {tensors}, outputs: {{w: {output}}}}}}}\n"


def test_permutations_of_many_terms() -> None:
    product = " * ".join(f"({i} | {i + 50})" for i in range(2, 40))
    refused(permuted("4", product, f"1 * {product}") + TOY, "SHD005")


@pytest.mark.parametrize("size", ["1000000000", "99999998 * 9999999", "4098"])
def test_permutations_of_long_granules(size: str) -> None:
    refused(permuted(size, f"2 * ({size} / 2)", f"({size} / 2) * 2") + TOY, "SHD230")


def test_a_long_granule_on_many_ranks() -> None:
    sizes = [1 << n for n in range(13)]
    text = permuted("heads * 4096", "heads * 2 * 2048", "heads * 2048 * 2")
    codes, code = outcome(f"{HEAD}{text}targets: [{{checkpoint: toy, tp: {sizes}}}]\n")
    assert codes == [] and code is not None


def test_pairs_of_a_long_axis() -> None:
    tensors = "{a: {shape: [long], shard: column_parallel}, b: {shape: [long], shard: column_parallel}}"
    group = f"{{tensors: {tensors}, outputs: {{ab: {{interleave: [a, b], by: long}}}}}}"
    codes, code = outcome(f"{HEAD}axes: {{long: {{size: 9007199254740990}}}}\ngroups: {{g: {group}}}\n{TOY}")
    assert codes == [] and code is not None


def test_many_outputs() -> None:
    outputs = ", ".join(f"o{n}: {{concat: [w]}}" for n in range(301))
    refused(f"groups: {{g: {{tensors: {{w: {{shape: [1], shard: replicated}}}}, outputs: {{{outputs}}}}}}}\n", "SHD101")


def test_groups_that_take_over_many_outputs() -> None:
    tensors = ", ".join(f"w{n}: {{shape: [1], shard: replicated}}" for n in range(300))
    outputs = ", ".join(f"o{n}: {{concat: [w{n}]}}" for n in range(300))
    likes = "".join(f"  g{n}: {{at: p{n}, like: g}}\n" for n in range(1_000))
    refused(f"groups:\n  g: {{tensors: {{{tensors}}}, outputs: {{{outputs}}}}}\n{likes}", "SHD005")


def test_a_stack_of_many_experts() -> None:
    tensors = "{w: {shape: [1], shard: expert_slices}}"
    group = f"{{at: 'l.{{l}}.{{e}}', for: {{l: 100, e: experts}}, tensors: {tensors}, outputs: {{s: {{concat: [w], stack: e}}}}}}"
    text = f"axes: {{experts: {{size: 4096, over: ep}}}}\ngroups: {{g: {group}}}\n"
    codes, code = outcome(f"{HEAD}{text}targets: [{{checkpoint: toy, ep: [1, 2, 4, 4096]}}]\n")
    assert codes == [] and code is not None
