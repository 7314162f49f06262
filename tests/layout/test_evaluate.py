import pytest

from shardc.layout.errors import FormulaError
from shardc.layout.evaluate import condition, evaluate, number
from shardc.layout.parse import parse

ENV = {
    "hidden": 4096,
    "heads": 32,
    "layer": 3,
    "types": ["full", "linear", "full", "linear"],
    "blocks": [{"n_kv": 2}, {"n_kv": 4}],
    "rope": {"type": "yarn", "factor": 1.5},
    "act": "silu",
    "moe": True,
    "none": None,
}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("hidden // heads", 128),
        ("hidden / heads", 128),
        ("hidden % 1000", 96),
        ("ceil(hidden / 1000)", 5),
        ("ceil(hidden / 1024)", 4),
        ("hidden - 96 + 2 * heads", 4064),
        ("min(hidden, heads, 7)", 7),
        ("max(hidden, heads)", 4096),
        ("len(types)", 4),
        ("types[layer]", "linear"),
        ("blocks[layer - 2].n_kv", 4),
        ("rope.type", "yarn"),
        ("rope['type']", "yarn"),
        ("act[0]", "s"),
        ("[1, 'x']", [1, "x"]),
        ("true", True),
        ("types[layer] == 'linear'", True),
        ("layer >= 3 and not layer == 4", True),
        ("layer < 3 or moe", True),
        ("heads in [8, 16]", False),
        ("'full' in types", True),
        ("act not in ['silu', 'gelu']", False),
        ("'il' in act", True),
        ("none != 3", True),
    ],
)
def test_values(text: str, value: object) -> None:
    assert evaluate(parse(text), ENV) == value


def test_conditions_stop_at_the_first_part_that_decides() -> None:
    assert condition(parse("layer == 9 and types[9] == 'full'"), ENV) is False
    assert condition(parse("layer == 3 or types[9] == 'full'"), ENV) is True


@pytest.mark.parametrize(
    ("text", "code", "message", "at"),
    [
        ("hidden * width", "SHD103", "unknown name `width`", (9, 14)),
        ("heads * 3 / 7", "SHD110", "`heads * 3 / 7` = 96 / 7 is not whole", (0, 13)),
        ("hidden // (heads - 32)", "SHD112", "`hidden // (heads - 32)` divides by 0", (0, 22)),
        ("hidden % 0", "SHD112", "`hidden % 0` divides by 0", (0, 10)),
        ("ceil(hidden / 0)", "SHD112", "`ceil(hidden / 0)` divides by 0", (0, 16)),
        ("heads - hidden", "SHD112", "`heads - hidden` = -4064 is not a size (0 or more, below 2**53)", (0, 14)),
        ("2 * (heads - 33)", "SHD112", "`heads - 33` = -1 is not a size (0 or more, below 2**53)", (5, 15)),
        ("hidden * 9007199254740991", "SHD112",
         "`hidden * 9007199254740991` = 36893488147419099136 is not a size (0 or more, below 2**53)", (0, 25)),
        ("act", "SHD112", "`act` is a word, not a whole number", (0, 3)),
        ("moe", "SHD112", "`moe` is true or false, not a whole number", (0, 3)),
        ("none", "SHD112", "`none` is null, not a whole number", (0, 4)),
        ("types", "SHD112", "`types` is a list, not a whole number", (0, 5)),
        ("rope", "SHD112", "`rope` is a mapping, not a whole number", (0, 4)),
        ("rope.factor * 2", "SHD112", "`rope.factor` is a fraction, not a whole number", (0, 11)),
        ("len(act)", "SHD112", "`act` is a word: it has no length", (0, 8)),
        ("rope.beta", "SHD112", "`rope` has no entry `beta`", (0, 9)),
        ("rope['beta']", "SHD112", "`rope` has no entry 'beta'", (0, 12)),
        ("rope[[1]]", "SHD112", "`rope` has no entry [1]", (0, 9)),
        ("rope[0]", "SHD112", "`rope` has no entry 0", (0, 7)),
        ("heads.kv", "SHD112", "`heads` has no entry `kv`", (0, 8)),
        ("heads[0]", "SHD112", "`heads` is a number: it has no entries", (0, 8)),
        ("types[4]", "SHD112", "`types[4]`: index 4 of 4 entries", (0, 8)),
        ("types['a']", "SHD112", "`types['a']`: index 'a' of 4 entries", (0, 10)),
        ("types[moe]", "SHD112", "`types[moe]`: index True of 4 entries", (0, 10)),
        ("heads | 2", "SHD203", "`heads | 2` is a layout, not a number", (0, 9)),
        ("heads per layer", "SHD203", "`heads per layer` is a layout, not a number", (0, 15)),
        ("local(heads)", "SHD203", "`local(heads)` is a layout, not a number", (0, 12)),
    ],
)  # fmt: skip
def test_numbers_that_there_are_not(text: str, code: str, message: str, at: tuple[int, int]) -> None:
    with pytest.raises(FormulaError) as caught:
        number(parse(text), ENV)
    assert (caught.value.code, caught.value.message, caught.value.at) == (code, message, at)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("heads", "`heads` is a number, not true or false"),
        ("not act", "`act` is a word, not true or false"),
        ("act < 3", "`act < 3`: a word and a number can't be ordered"),
        ("types < none", "`types < none`: a list and null can't be ordered"),
        ("3 in act", "`3 in act`: `in` looks in a list, not in a word"),
        ("3 in rope", "`3 in rope`: `in` looks in a list, not in a mapping"),
        ("3 in heads", "`3 in heads`: `in` looks in a list, not in a number"),
    ],
)
def test_conditions_that_there_are_not(text: str, message: str) -> None:
    with pytest.raises(FormulaError) as caught:
        condition(parse(text), ENV)
    assert (caught.value.code, caught.value.message) == ("SHD112", message)


def test_an_inexact_quotient_says_what_to_write() -> None:
    with pytest.raises(FormulaError) as caught:
        number(parse("heads / 5"), ENV)
    assert caught.value.help == "write `//` or `ceil(a / b)` if that is meant"
