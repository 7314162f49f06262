from shardc.runtime import Dim, Family, Format, Header, Part, Tensor
from shardc.runtime.choices import Choice, choose
from shardc.runtime.chooser import Chooser
from shardc.runtime.settling import facts_of

from .tiny_model import FORMATS

FACTS = {name: facts_of(format, {}) for name, format in FORMATS.items()}
LINEAR = Family((16, 8), "column_parallel", ("BF16", "F32"), formats=("dense", "block4", "packed"), optional=True)


def packed(stem: str, input_scale: Header | None = None) -> dict[str, Header]:
    headers = {
        f"{stem}.weight": Header("U8", (16, 4)),
        f"{stem}.weight_scale": Header("F8_E4M3", (16, 1)),
        f"{stem}.weight_scale_2": Header("F32", ()),
    }
    return headers | ({f"{stem}.input_scale": input_scale} if input_scale else {})


def choices_of(headers: dict[str, Header] | None, names: str, family: Family = LINEAR) -> list[Choice | None]:
    chosen = Chooser(FORMATS, headers, FACTS).choose([Tensor(f"{name}.weight", family) for name in names])
    assert (list(chosen.choices), chosen.faults) == ([f"{name}.weight" for name in names], {})
    return list(chosen.choices.values())


def test_tensors_that_are_stored_alike_share_one_way() -> None:
    headers = packed("a") | packed("b") | packed("c", Header("F32", (1,))) | {"d.weight": Header("BF16", (16, 8))}
    a, b, c, d = choices_of(headers, "abcd")
    assert a and b and c and d
    assert a.names == ("a.weight", "a.weight_scale", "a.weight_scale_2")
    assert b.names == ("b.weight", "b.weight_scale", "b.weight_scale_2")
    assert a.way is b.way and a.way is not c.way
    assert [part for _, part, _ in c.way.parts][-1] == FORMATS["packed"].parts[3]
    assert (d.format, d.names, d.way.parts) == ("dense", ("d.weight",), (("BF16", None, (16, 8)),))


def test_the_choice_of_each_is_the_one_that_choose_makes() -> None:
    headers = packed("a") | packed("b", Header("F32", ())) | {"c.weight": Header("F32", (16, 8))} | packed("f")
    for name, one in zip("abdcef", choices_of(headers, "abdcef"), strict=True):
        other = choose(Tensor(f"{name}.weight", LINEAR), FORMATS, headers, FACTS)
        assert (one and (one.format, one.stored)) == (other and (other.format, other.stored))
        assert (one is None) == (name in "de")


def test_without_headers_the_first_format_with_its_own_names() -> None:
    family = Family((16, 8), "column_parallel", ("BF16",), formats=("packed", "dense"))
    for name, choice in zip("ab", choices_of(None, "ab", family), strict=True):
        assert choice and choice.names == (f"{name}.weight", f"{name}.weight_scale", f"{name}.weight_scale_2")
        assert {shape for _, _, shape in choice.way.parts} == {None}


def test_names_of_one_family_that_end_differently() -> None:
    formats = {"mx": Format((Part("{stem}_blocks", ("U8",), (Dim("out"), Dim("in"))),))}
    family = Family((4, 4), "replicated", ("BF16",), formats=("mx", "dense"))
    headers = {"a_blocks": Header("U8", (4, 4)), "b_blocks": Header("U8", (4, 4)), "c": Header("BF16", (4, 4))}
    chooser = Chooser(formats, headers, {"mx": facts_of(formats["mx"], {})})
    found = chooser.choose([Tensor(name, family) for name in ("a", "b.weight", "c", "c.weight")]).choices
    assert {name: choice and choice.names for name, choice in found.items()} == {
        "a": ("a_blocks",),
        "b.weight": ("b_blocks",),
        "c": ("c",),
        "c.weight": None,
    }


def test_what_one_is_refused_for_the_next_one_is_too() -> None:
    headers = {f"{name}.weight": Header("U8", (16, 4)) for name in "ac"} | packed("b")
    chosen = Chooser(FORMATS, headers, FACTS).choose([Tensor(f"{name}.weight", LINEAR) for name in "abc"])
    assert [name for name, choice in chosen.choices.items() if choice] == ["b.weight"]
    assert chosen.faults == {
        f"{name}.weight": (
            ("SHD401", f"{name}.weight_scale is missing: {name}.weight is U8 (packed)"),
            ("SHD401", f"{name}.weight_scale_2 is missing: {name}.weight is U8 (packed)"),
        )
        for name in "ac"
    }
