"""The checkpoints that are loaded: their configs, their tensors, and the dim that each is cut on."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

#: Bytes of an element, by the file's name of the dtype.
WIDTHS = {"BF16": 2, "F32": 4, "U8": 1, "F8_E4M3": 1}
ROWS = ("q_proj", "k_proj", "v_proj", "q_b_proj", "kv_b_proj", "gate_proj", "up_proj", "embed_tokens", "lm_head")
COLUMNS = ("o_proj", "down_proj")

Config = Mapping[str, Any]


class Stored(NamedTuple):
    """A tensor of a file: full shape, dtype by the file's name."""

    name: str
    dtype: str
    shape: tuple[int, ...]

    @property
    def bytes(self) -> int:
        """Bytes in the file."""
        return WIDTHS[self.dtype] * math.prod(self.shape)

    @property
    def dim(self) -> int | None:
        """The dim that is cut into equal parts; None where every rank keeps the whole tensor."""
        module = self.name.rsplit(".", 2)[-2]
        if len(self.shape) != 2:
            return None
        return 0 if module in ROWS else 1 if module in COLUMNS else None

    def local_bytes(self, tp: int) -> int:
        """Bytes that one of `tp` ranks keeps."""
        return self.bytes if self.dim is None else self.bytes // tp


@dataclass(frozen=True)
class Workload:
    """A checkpoint. module: the generated module that loads it. files: how many files it is spread over."""

    name: str
    module: str
    about: str
    config: Config
    list: Callable[[Config], Iterator[Stored]]
    files: int = 4

    @cached_property
    def tensors(self) -> tuple[Stored, ...]:
        """Every tensor, in the order of the model's modules."""
        return tuple(self.list(self.config))

    @cached_property
    def bytes(self) -> int:
        """Bytes of all tensors."""
        return sum(tensor.bytes for tensor in self.tensors)

    def local_bytes(self, tp: int) -> int:
        """Bytes that one of `tp` ranks keeps; all ranks keep the same number."""
        return sum(tensor.local_bytes(tp) for tensor in self.tensors)

    @cached_property
    def folder(self) -> str:
        """The name of its folder; another one where the config or a tensor is another."""
        text = json.dumps([self.config, self.tensors, self.files])
        return f"{self.name}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def llama_tensors(config: Config) -> Iterator[Stored]:
    """Of LlamaForCausalLM, BF16."""
    hidden, inter = config["hidden_size"], config["intermediate_size"]
    yield Stored("model.embed_tokens.weight", "BF16", (config["vocab_size"], hidden))
    for layer in range(config["num_hidden_layers"]):
        yield from attention(f"model.layers.{layer}.self_attn", config)
        yield from mlp(f"model.layers.{layer}.mlp", hidden, inter, bf16)
        yield from norms(f"model.layers.{layer}", hidden)
    yield from head(config)


def moe_tensors(config: Config) -> Iterator[Stored]:
    """Of Qwen3MoeForCausalLM, BF16, every layer with experts."""
    hidden = config["hidden_size"]
    yield Stored("model.embed_tokens.weight", "BF16", (config["vocab_size"], hidden))
    for layer in range(config["num_hidden_layers"]):
        at = f"model.layers.{layer}"
        yield from attention(f"{at}.self_attn", config)
        yield Stored(f"{at}.self_attn.q_norm.weight", "BF16", (config["head_dim"],))
        yield Stored(f"{at}.self_attn.k_norm.weight", "BF16", (config["head_dim"],))
        yield Stored(f"{at}.mlp.gate.weight", "BF16", (config["num_experts"], hidden))
        for expert in range(config["num_experts"]):
            yield from mlp(f"{at}.mlp.experts.{expert}", hidden, config["moe_intermediate_size"], bf16)
        yield from norms(at, hidden)
    yield from head(config)


def fp8_tensors(config: Config) -> Iterator[Stored]:
    """Of DeepseekV3ForCausalLM as DeepSeek publishes it: every linear in FP8, with a scale for 128 × 128 elements."""
    return deepseek_tensors(config, fp8, fp8)


def nvfp4_tensors(config: Config) -> Iterator[Stored]:
    """Of DeepseekV3ForCausalLM as NVIDIA publishes it: NVFP4 in the MLPs, attention in BF16."""
    return deepseek_tensors(config, bf16, nvfp4)


Linear = Callable[[str, int, int], Iterator[Stored]]


def deepseek_tensors(config: Config, attention: Linear, in_mlp: Linear) -> Iterator[Stored]:
    """Of DeepseekV3ForCausalLM, its first layers dense. attention, in_mlp: the format of linears there."""
    hidden, inter = config["hidden_size"], config["moe_intermediate_size"]
    yield Stored("model.embed_tokens.weight", "BF16", (config["vocab_size"], hidden))
    for layer in range(config["num_hidden_layers"]):
        at = f"model.layers.{layer}"
        yield from latent_attention(f"{at}.self_attn", config, attention)
        yield from norms(at, hidden)
        if layer < config["first_k_dense_replace"]:
            yield from mlp(f"{at}.mlp", hidden, config["intermediate_size"], in_mlp)
            continue
        yield Stored(f"{at}.mlp.gate.weight", "BF16", (config["n_routed_experts"], hidden))
        yield Stored(f"{at}.mlp.gate.e_score_correction_bias", "F32", (config["n_routed_experts"],))
        yield from mlp(f"{at}.mlp.shared_experts", hidden, config["n_shared_experts"] * inter, in_mlp)
        for expert in range(config["n_routed_experts"]):
            yield from mlp(f"{at}.mlp.experts.{expert}", hidden, inter, in_mlp)
    yield from head(config)


def attention(at: str, config: Config) -> Iterator[Stored]:
    """Grouped-query attention, BF16."""
    hidden, head_dim = config["hidden_size"], config["head_dim"]
    queries, keys = config["num_attention_heads"] * head_dim, config["num_key_value_heads"] * head_dim
    yield from bf16(f"{at}.q_proj", queries, hidden)
    yield from bf16(f"{at}.k_proj", keys, hidden)
    yield from bf16(f"{at}.v_proj", keys, hidden)
    yield from bf16(f"{at}.o_proj", hidden, queries)


def latent_attention(at: str, config: Config, linear: Linear) -> Iterator[Stored]:
    """Multi-head latent attention."""
    hidden, heads = config["hidden_size"], config["num_attention_heads"]
    q_lora, kv_lora = config["q_lora_rank"], config["kv_lora_rank"]
    nope, rope, value = config["qk_nope_head_dim"], config["qk_rope_head_dim"], config["v_head_dim"]
    yield from linear(f"{at}.q_a_proj", q_lora, hidden)
    yield Stored(f"{at}.q_a_layernorm.weight", "BF16", (q_lora,))
    yield from linear(f"{at}.q_b_proj", heads * (nope + rope), q_lora)
    yield from linear(f"{at}.kv_a_proj_with_mqa", kv_lora + rope, hidden)
    yield Stored(f"{at}.kv_a_layernorm.weight", "BF16", (kv_lora,))
    yield from linear(f"{at}.kv_b_proj", heads * (nope + value), kv_lora)
    yield from linear(f"{at}.o_proj", hidden, heads * value)


def mlp(at: str, hidden: int, inter: int, linear: Linear) -> Iterator[Stored]:
    """A gated MLP."""
    yield from linear(f"{at}.gate_proj", inter, hidden)
    yield from linear(f"{at}.up_proj", inter, hidden)
    yield from linear(f"{at}.down_proj", hidden, inter)


def norms(at: str, hidden: int) -> Iterator[Stored]:
    """The two norms of a layer."""
    yield Stored(f"{at}.input_layernorm.weight", "BF16", (hidden,))
    yield Stored(f"{at}.post_attention_layernorm.weight", "BF16", (hidden,))


def head(config: Config) -> Iterator[Stored]:
    """What follows the last layer."""
    yield Stored("model.norm.weight", "BF16", (config["hidden_size"],))
    yield Stored("lm_head.weight", "BF16", (config["vocab_size"], config["hidden_size"]))


def bf16(at: str, rows: int, columns: int) -> Iterator[Stored]:
    """A linear that is not quantised."""
    yield Stored(f"{at}.weight", "BF16", (rows, columns))


def fp8(at: str, rows: int, columns: int) -> Iterator[Stored]:
    """A linear in FP8, with one F32 scale for 128 × 128 elements."""
    yield Stored(f"{at}.weight", "F8_E4M3", (rows, columns))
    yield Stored(f"{at}.weight_scale_inv", "F32", (-(-rows // 128), -(-columns // 128)))


def nvfp4(at: str, rows: int, columns: int) -> Iterator[Stored]:
    """A linear in NVFP4: two elements a byte, a scale for 16 elements, and two scalars."""
    yield Stored(f"{at}.weight", "U8", (rows, columns // 2))
    yield Stored(f"{at}.weight_scale", "F8_E4M3", (rows, columns // 16))
    yield Stored(f"{at}.weight_scale_2", "F32", ())
    yield Stored(f"{at}.input_scale", "F32", ())
