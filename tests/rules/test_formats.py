"""Weights in a format that their entry does not list: one finding, whatever the format calls its tensors."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from shardc.plan.evidence import Header
from tests.formats.variants import VARIANTS
from tests.plan.support import spec
from tests.rules.support import findings_of
from tests.support import resolved


def text(formats: str) -> str:
    return spec(f"""\
    config: {{layers: layers}}
    groups:
      all:
        at: l.{{layer}}
        for: {{layer: layers}}
        tensors:
          up.weight: {{shape: [512, 256], shard: replicated, formats: [{formats}]}}
          norm.weight: {{shape: [256], shard: replicated}}
    """)


DENSE = {".weight": ("BF16", (512, 256))}


def found(formats: str, *stored: Mapping[str, Header], config: Mapping[str, object] = {}) -> list[tuple[str, str]]:
    """(code, message) for a file whose layers have these tensors."""
    headers: dict[str, Header] = {}
    for layer, files in enumerate(stored):
        headers[f"l.{layer}.norm.weight"] = ("BF16", (256,))
        headers |= {f"l.{layer}.up{ending}": header for ending, header in files.items()}
    said = findings_of(resolved(text(formats)), {"layers": len(stored), **config}, headers)
    return [(finding.code, finding.message) for finding in said]


@pytest.mark.parametrize("name", VARIANTS)
def test_a_format_that_is_not_listed(name: str) -> None:
    variant = VARIANTS[name]
    files = variant.files(512, 256)
    first, second, *_ = files
    here = "" if first == ".weight" else f"l.0.up{first} "
    message = f"l.0.up.weight is stored as {variant.format} ({here}{files[first][0]}, with l.0.up{second}), which its entry does not list"
    assert found("dense", files, config=variant.config) == [("SHD405", message)]
    assert found("dense", files, files, config=variant.config) == [("SHD405", f"{message} (and 1 more like it)")]


@pytest.mark.parametrize("name", VARIANTS)
@pytest.mark.parametrize("listed", ["awq", "gptq", "w4a16_ct", "nvfp4", "fp8_tensor", "mxfp4"])
def test_beside_a_format_that_shares_its_names(name: str, listed: str) -> None:
    variant = VARIANTS[name]
    if variant.format != listed:
        [(code, message)] = found(listed, variant.files(512, 256), config=variant.config)
        assert (code, message.partition(" (")[0]) == ("SHD405", f"l.0.up.weight is stored as {variant.format}")


def test_a_dense_weight_that_is_not_listed() -> None:
    assert found("awq, fp8_block", DENSE, DENSE) == [
        ("SHD405", "l.0.up.weight is stored as dense (BF16), which its entry does not list (and 1 more like it)")
    ]


def test_some_layers_alone() -> None:
    awq = VARIANTS["awq"].files(512, 256)
    assert found("dense", DENSE, awq, DENSE) == [
        (
            "SHD405",
            "l.1.up.weight is stored as awq (l.1.up.qweight I32, with l.1.up.qzeros), which its entry does not list",
        )
    ]


def test_two_formats_that_are_not_listed() -> None:
    awq, nvfp4 = VARIANTS["awq"].files(512, 256), VARIANTS["nvfp4"].files(512, 256)
    assert [message.partition(" (")[0] for _, message in found("dense", awq, nvfp4)] == [
        "l.0.up.weight is stored as awq",
        "l.1.up.weight is stored as nvfp4",
    ]


def test_a_format_without_its_scales_is_not_taken_for_one() -> None:
    codes = [code for code, _ in found("dense", {".qweight": ("I32", (256, 64))})]
    assert "SHD405" not in codes
    assert codes


def test_tensors_of_another_shape_are_named_all_the_same() -> None:
    """A weight of another model in AWQ: it is AWQ, and its shape is another matter."""
    [(code, message)] = found("dense", VARIANTS["awq"].files(128, 384))
    assert (code, message.partition(" (")[0]) == ("SHD405", "l.0.up.weight is stored as awq")
