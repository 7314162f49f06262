"""What the words of a spec file may be."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from shardc.spec.fields import (
    SPELLINGS,
    ClassName,
    Dtype,
    Dtypes,
    FileName,
    Formula,
    Glob,
    Identifier,
    KeyPath,
    Model,
    Size,
    TensorName,
    Words,
    both_dims,
    no_flag,
)

#: How a field of each kind is spelt, and what is refused for its spelling.
SPELT: list[tuple[Any, list[str], list[str]]] = [
    (Identifier, ["a", "kv_heads", "q2", "a" * 60], ["", "2q", "_q", "Q", "q-k", "q.k", "q k", "q\n", "é", "qé"]),
    (
        TensorName,
        ["w", "model.layers.{layer}.self_attn", "{layer}", "h.{i}.{j2}-x", "0", "A_log"],
        ["", "a b", "a/b", "a*", "{}", "{Layer}", "{layer", "layer}", "{a.b}", "{{a}}", "a\n", "../é"],
    ),
    (Glob, ["*", "model.visual.*", "a-b_c.0"], ["", "a b", "a/b", "[a]", "a?", "{layer}", "a\n"]),
    (ClassName, ["LlamaForCausalLM", "T5_x", "a"], ["", "5T", "_T", "Llama-4", "llama.Llama", "T\n"]),
    (KeyPath, ["text_config", "a.b.C2"], ["", "a-b", "a/b", "a[0]", "a\n"]),
    (FileName, ["llama-3.1-8b", "0", "A_b"], ["", ".hidden", "../x", "a/b", "-x", "a b", "a\n"]),
]


def value(kind: Any, given: object) -> Any:
    return TypeAdapter(kind).validate_python(given, strict=True)


def fault(kind: Any, given: object) -> dict[str, Any]:
    """The one error, as pydantic has it."""
    with pytest.raises(ValidationError) as caught:
        value(kind, given)
    (error,) = caught.value.errors()
    return dict(error)


@pytest.mark.parametrize(("kind", "good", "bad"), SPELT, ids=["identifier", "tensor", "glob", "class", "keys", "file"])
def test_spelling(kind: Any, good: list[str], bad: list[str]) -> None:
    assert [value(kind, word) for word in good] == good
    for word in bad:
        found = fault(kind, word)
        assert found["type"] == "string_pattern_mismatch", word
        assert found["ctx"]["pattern"] in SPELLINGS


@pytest.mark.parametrize(
    "word",
    ["true", "false", "per", "local", "ceil", "min", "max", "and", "or", "not", "in", "if", "else", "lambda", "class"],
)
def test_words_of_the_language_are_no_names(word: str) -> None:
    assert fault(Identifier, word)["msg"] == f"Value error, `{word}` is a word of the language"
    assert value(Identifier, f"{word}s") == f"{word}s"


def test_names_that_generated_code_keeps_for_itself() -> None:
    assert fault(Identifier, "i_")["msg"] == "Value error, a name does not end in `_`"
    assert value(Identifier, "i_j") == "i_j"


@pytest.mark.parametrize(("kind", "longest"), [(Identifier, 60), (TensorName, 300), (Glob, 300)])
def test_lengths(kind: Any, longest: int) -> None:
    assert len(value(kind, "a" * longest)) == longest
    found = fault(kind, "a" * (longest + 1))
    assert (found["type"], found["ctx"]) == ("string_too_long", {"max_length": longest})


@pytest.mark.parametrize(
    ("given", "text"), [("heads * 2", "heads * 2"), (4, "4"), (0, "0"), (True, "true"), (False, "false"), ("", "")]
)
def test_formulas(given: object, text: str) -> None:
    assert value(Formula, given) == text


@pytest.mark.parametrize("given", [None, 1.5, [], ["a"], {}])
def test_what_is_no_formula(given: object) -> None:
    assert fault(Formula, given)["type"] == "string_type"


def test_dtypes() -> None:
    assert value(Dtype, "F8_E4M3") == "F8_E4M3"
    assert value(Dtypes, "F32") == ["F32"]
    assert value(Dtypes, ["BF16", "F16"]) == ["BF16", "F16"]
    assert fault(Dtypes, [])["type"] == "too_short"
    assert fault(Dtypes, ["BF16", "bf16"])["loc"] == (1,)
    assert fault(Dtype, "BF17")["msg"] == (
        "Value error, `BF17` is not a dtype; there are BOOL, U8, I8, F8_E4M3, F8_E5M2, F8_E8M0, "
        "I16, U16, F16, BF16, I32, U32, F32, I64, U64, F64"
    )


def test_words() -> None:
    assert value(Words, "n_kv") == ["n_kv"]
    assert value(Words, ["n_kv", "n.head_kv"]) == ["n_kv", "n.head_kv"]
    assert fault(Words, [])["type"] == "too_short"
    assert fault(Words, ["n", 4])["type"] == "string_type"


def test_sizes() -> None:
    assert [value(Size, 1), value(Size, 1_000_000)] == [1, 1_000_000]
    assert fault(Size, 0)["type"] == "greater_than_equal"
    assert fault(Size, 1_000_001)["type"] == "less_than_equal"
    assert [fault(Size, given)["type"] for given in (True, "4", 4.0)] == ["int_type"] * 3


def test_both_dims() -> None:
    assert both_dims(["out", "in"]) == ["out", "in"]
    assert both_dims(["in", "out"]) == ["in", "out"]
    for dims in ([], ["in"], ["in", "in"], ["in", "out", "in"]):
        with pytest.raises(ValueError, match=r"^`dims` is \[out, in\] or \[in, out\]$"):
            both_dims(dims)


def test_no_flag() -> None:
    assert no_flag(1) == 1
    with pytest.raises(ValueError, match=r"^`true` is not a number$"):
        no_flag(True)


class Sample(Model):
    size: Size


def test_a_mapping_of_a_spec_file() -> None:
    sample = Sample.model_validate({"size": 4})
    with pytest.raises(ValidationError):
        sample.size = 5  # type: ignore[misc]
    assert fault(Sample, {"size": 4, "sizes": 5})["type"] == "extra_forbidden"
    assert fault(Sample, {"size": "4"})["type"] == "int_type"
