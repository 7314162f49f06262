import pytest

from shardc.runtime import Dim, Family, Format, Header, Part, ShardError, Tensor
from shardc.runtime.choices import Choice, file_names

from .choosing import chosen
from .tiny_model import FORMATS

ALL = ("dense", "block4", "packed")
WEIGHT = Tensor("q.weight", Family((16, 8), "column_parallel", ("BF16", "F32"), formats=ALL))
BLOCKS = {"mx": Format((Part("{stem}_blocks", ("U8",), ()), Part("{stem}_scales", ("U8",), ())))}


def headers(**dtypes: str) -> dict[str, Header]:
    return {f"q.{name}": Header(dtype, (16, 8)) for name, dtype in dtypes.items()}


def names_and_dtypes(choice: Choice | None) -> list[tuple[str, str]]:
    assert choice is not None
    return [(stored.name, stored.dtype) for stored in choice.stored]


def refusal(tensor: Tensor, found: dict[str, Header]) -> tuple[tuple[str, str], ...]:
    with pytest.raises(ShardError) as caught:
        chosen(tensor, FORMATS | BLOCKS, found)
    return caught.value.findings


@pytest.mark.parametrize(
    ("found", "format", "stored"),
    [
        ({"weight": "F32"}, "dense", ["weight"]),
        ({"weight": "F8_E4M3", "weight_scale_inv": "F32"}, "block4", ["weight", "weight_scale_inv"]),
        (
            {"weight": "U8", "weight_scale": "F8_E4M3", "weight_scale_2": "F32"},
            "packed",
            ["weight", "weight_scale", "weight_scale_2"],
        ),
        (
            {"weight": "U8", "weight_scale": "F8_E4M3", "weight_scale_2": "F32", "input_scale": "F32"},
            "packed",
            ["weight", "weight_scale", "weight_scale_2", "input_scale"],
        ),
    ],
)
def test_the_dtype_in_the_file_decides(found: dict[str, str], format: str, stored: list[str]) -> None:
    choice = chosen(WEIGHT, FORMATS, headers(**found))
    assert choice is not None
    assert choice.format == format
    assert names_and_dtypes(choice) == [(f"q.{name}", found[name]) for name in stored]


def test_nothing_of_the_tensor_is_there() -> None:
    assert chosen(WEIGHT, FORMATS, {"other": Header("F32", (1,))}) is None


def test_without_headers_the_first_format_and_dtypes() -> None:
    assert names_and_dtypes(chosen(WEIGHT, FORMATS)) == [("q.weight", "BF16")]
    packed = Tensor("q.weight", Family((16, 8), "column_parallel", ("BF16",), formats=("packed", "dense")))
    assert names_and_dtypes(chosen(packed, FORMATS)) == [
        ("q.weight", "U8"),
        ("q.weight_scale", "F8_E4M3"),
        ("q.weight_scale_2", "F32"),
    ]


def test_a_dtype_that_fits_no_format() -> None:
    legal = "BF16 (dense), F32 (dense), F8_E4M3 (block4), U8 (packed)"
    assert refusal(WEIGHT, headers(weight="F16")) == (("SHD404", f"q.weight is F16; legal: {legal}"),)


def test_companions_that_are_missing() -> None:
    assert refusal(WEIGHT, headers(weight="U8")) == (
        ("SHD401", "q.weight_scale is missing: q.weight is U8 (packed)"),
        ("SHD401", "q.weight_scale_2 is missing: q.weight is U8 (packed)"),
    )


def test_a_companion_of_another_dtype() -> None:
    assert refusal(WEIGHT, headers(weight="F8_E4M3", weight_scale_inv="F16")) == (
        ("SHD404", "q.weight_scale_inv is F16; legal: F32 (block4)"),
    )


def test_a_companion_without_its_weight() -> None:
    assert refusal(WEIGHT, headers(weight_scale="F8_E4M3")) == (("SHD401", "q.weight is missing"),)


def test_a_tensor_that_is_never_dense() -> None:
    experts = Tensor("gate_up", Family((4, 4), "replicated", ("BF16",), formats=("mx",)))
    found = {"gate_up_blocks": Header("U8", ()), "gate_up_scales": Header("U8", (1,))}
    choice = chosen(experts, BLOCKS, found)
    assert names_and_dtypes(choice) == [("gate_up_blocks", "U8"), ("gate_up_scales", "U8")]
    assert choice is not None
    assert [stored.shape for stored in choice.stored] == [(), (1,)]
    assert file_names(experts, BLOCKS) == ["gate_up_blocks", "gate_up_scales"]
    assert refusal(experts, {"gate_up_scales": Header("U8", ())}) == (("SHD401", "gate_up_blocks is missing"),)


WORDS = (Dim("in", 32, entries="bits"), Dim("out"))
COLUMNS = (Dim("in"), Dim("out", 32, entries="bits"))
SIZES = {"bits": (("bits",), 4)}
PACKED = {
    "rows": Format((Part("{stem}.qweight", ("I32",), WORDS), Part("{stem}.scales", ("F16",), ())), sizes=SIZES),
    "cols": Format((Part("{stem}.qweight", ("I32",), COLUMNS), Part("{stem}.scales", ("F16",), ())), sizes=SIZES),
}


@pytest.mark.parametrize(
    ("qweight", "config", "format", "dims"),
    [
        ((8, 128), {}, "rows", (Dim("in", 8), Dim("out"))),
        ((64, 16), {}, "cols", (Dim("in"), Dim("out", 8))),
        ((16, 128), {}, "rows", (Dim("in", 4), Dim("out"))),
        ((16, 128), {"bits": 2}, "rows", (Dim("in", 4), Dim("out"))),
    ],
)
@pytest.mark.parametrize("listed", [("rows", "cols"), ("cols", "rows")])
def test_shapes_decide_between_formats_of_the_same_names(
    qweight: tuple[int, ...], config: dict[str, int], format: str, dims: tuple[Dim, ...], listed: tuple[str, ...]
) -> None:
    weight = Tensor("w.weight", Family((128, 64), "replicated", ("BF16",), formats=listed))
    found = {"w.qweight": Header("I32", qweight), "w.scales": Header("F16", ())}
    choice = chosen(weight, PACKED, found, config)
    assert choice is not None and choice.stored[0].part is not None
    assert (choice.format, choice.stored[0].part.dims) == (format, dims)


def test_shapes_that_fit_none_leave_the_first() -> None:
    weight = Tensor("w.weight", Family((128, 64), "replicated", ("BF16",), formats=("cols", "rows")))
    choice = chosen(weight, PACKED, {"w.qweight": Header("I32", (7, 7)), "w.scales": Header("F16", ())})
    assert choice is not None and choice.format == "cols"
