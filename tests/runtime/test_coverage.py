import pytest

from shardc.runtime import Header, ShardError
from shardc.runtime.coverage import check_coverage
from shardc.runtime.planning import take_survey

from .tiny_model import CONFIG, FORMATS, full_tensors, headers_of, mesh, tensors

Headers = dict[str, Header]


def check(headers: Headers, *, ignored: tuple[str, ...] = (), subset: bool = False) -> None:
    survey = take_survey(tensors, FORMATS, CONFIG, mesh(tp=(0, 2)), headers, subset=subset)
    check_coverage(survey, headers, ignored)


def findings(headers: Headers, *, ignored: tuple[str, ...] = (), subset: bool = False) -> tuple[tuple[str, str], ...]:
    with pytest.raises(ShardError) as caught:
        check(headers, ignored=ignored, subset=subset)
    return caught.value.findings


@pytest.mark.parametrize("format", ["dense", "block4", "packed"])
def test_a_file_that_is_as_it_should_be(format: str) -> None:
    check(headers_of(full_tensors(format)))


def test_faults_of_every_kind_together() -> None:
    headers = headers_of(full_tensors("packed"))
    del headers["A_log"]
    headers["norm.weight"] = Header("F16", (8,))
    headers["o_proj.weight"] = Header("F32", (24, 8))
    headers["experts.0.up.weight_scale_2"] = Header("F32", (2,))
    headers["extra.weight"] = Header("F32", (8,))
    assert findings(headers) == (
        ("SHD401", "A_log is missing"),
        ("SHD404", "norm.weight is F16; legal: BF16 (dense), F32 (dense)"),
        ("SHD403", "o_proj.weight: shape [24, 8] in the file, [8, 24] by the spec"),
        ("SHD403", "experts.0.up.weight_scale_2: shape [2] in the file, [] by the spec"),
        ("SHD402", "extra.weight is unexpected: no entry of the spec claims it"),
    )


def test_ignored_names() -> None:
    headers = headers_of(full_tensors()) | {
        f"{name}.weight": Header("F32", ()) for name in ("visual.a", "visual", "a.visual.b")
    }
    assert findings(headers, ignored=("visual.?.weight", "other")) == (
        ("SHD402", "visual.weight is unexpected: no entry of the spec claims it"),
        ("SHD402", "a.visual.b.weight is unexpected: no entry of the spec claims it"),
    )


def test_a_scale_beside_a_dense_weight_is_unexpected() -> None:
    headers = headers_of(full_tensors()) | {"experts.0.up.weight_scale_inv": Header("F32", (4, 2))}
    text = "experts.0.up.weight_scale_inv is unexpected: no entry of the spec claims it"
    assert findings(headers) == (("SHD402", text),)


def test_a_weight_of_the_wrong_dtype_is_one_finding_with_its_parts() -> None:
    headers = headers_of(full_tensors("block4"))
    headers["experts.0.up.weight"] = Header("F8_E5M2", (16, 8))
    legal = "BF16 (dense), F32 (dense), F8_E4M3 (block4), U8 (packed)"
    assert findings(headers) == (("SHD404", f"experts.0.up.weight is F8_E5M2; legal: {legal}"),)


def test_parts_that_cannot_be_whole_units() -> None:
    config = {"text_config": CONFIG["text_config"] | {"hidden_size": 4}}
    headers = headers_of(full_tensors("packed"))
    survey = take_survey(tensors, FORMATS, config, mesh(tp=(0, 2)), headers)
    with pytest.raises(ShardError) as caught:
        check_coverage(survey, headers, ())
    assert ("SHD213", "experts.0.up.weight_scale: 4 is not a multiple of 8") in caught.value.findings


def test_a_subset_misses_nothing_but_companions() -> None:
    headers = headers_of(full_tensors("block4"))
    layer = {name: headers[name] for name in ("A_log", "experts.0.up.weight", "experts.0.up.weight_scale_inv")}
    check(layer, subset=True)
    del layer["experts.0.up.weight"]
    assert findings(layer, subset=True) == (("SHD401", "experts.0.up.weight is missing"),)
