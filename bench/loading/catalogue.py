"""The workloads by name: large ones to measure, and a tiny one to try the harness."""

from __future__ import annotations

from typing import Any

from bench.loading.workloads import Config, Workload, fp8_tensors, llama_tensors, moe_tensors, nvfp4_tensors

LLAMA: Config = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_hidden_layers": 9,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "vocab_size": 32000,
    "max_position_embeddings": 8192,
    "rms_norm_eps": 1e-5,
    "hidden_act": "silu",
    "attention_bias": False,
    "mlp_bias": False,
    "tie_word_embeddings": False,
    "torch_dtype": "bfloat16",
}
MOE: Config = {
    "architectures": ["Qwen3MoeForCausalLM"],
    "model_type": "qwen3_moe",
    "hidden_size": 2048,
    "intermediate_size": 6144,
    "moe_intermediate_size": 512,
    "num_hidden_layers": 8,
    "num_experts": 64,
    "num_experts_per_tok": 8,
    "num_attention_heads": 16,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "vocab_size": 32000,
    "decoder_sparse_step": 1,
    "mlp_only_layers": [],
    "tie_word_embeddings": False,
    "torch_dtype": "bfloat16",
}
DEEPSEEK: dict[str, Any] = {
    "architectures": ["DeepseekV3ForCausalLM"],
    "model_type": "deepseek_v3",
    "hidden_size": 2048,
    "intermediate_size": 4096,
    "num_attention_heads": 16,
    "num_key_value_heads": 16,
    "num_nextn_predict_layers": 0,
    "n_shared_experts": 1,
    "q_lora_rank": 768,
    "kv_lora_rank": 512,
    "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64,
    "v_head_dim": 128,
    "first_k_dense_replace": 1,
    "topk_method": "noaux_tc",
    "vocab_size": 32000,
    "tie_word_embeddings": False,
    "torch_dtype": "bfloat16",
}
FP8_QUANTIZATION = {"quant_method": "fp8", "fmt": "e4m3", "weight_block_size": [128, 128]}
FP8: Config = DEEPSEEK | {
    "num_hidden_layers": 5,
    "n_routed_experts": 48,
    "moe_intermediate_size": 1024,
    "quantization_config": FP8_QUANTIZATION,
}
NVFP4: Config = DEEPSEEK | {"num_hidden_layers": 11, "n_routed_experts": 64, "moe_intermediate_size": 512}
TINY: Config = DEEPSEEK | {
    "hidden_size": 128,
    "intermediate_size": 512,
    "moe_intermediate_size": 256,
    "num_attention_heads": 4,
    "q_lora_rank": 128,
    "kv_lora_rank": 128,
    "num_hidden_layers": 2,
    "n_routed_experts": 2,
    "vocab_size": 256,
    "quantization_config": FP8_QUANTIZATION,
}

WORKLOADS = {
    one.name: one
    for one in (
        Workload("llama", "llama", "dense, large matrices, BF16", LLAMA, llama_tensors),
        Workload("moe", "qwen3_moe", "8 layers of 64 experts, BF16", MOE, moe_tensors),
        Workload("fp8", "deepseek_v3", "4 layers of 48 experts, FP8, scales of 128 × 128 blocks", FP8, fp8_tensors),
        Workload("nvfp4", "deepseek_v3", "10 layers of 64 experts, NVFP4, scalar scales", NVFP4, nvfp4_tensors),
    )
}
#: For tests: less than a MB, cut at tp=2.
TINY_WORKLOAD = Workload("tiny", "deepseek_v3", "one layer of 2 experts, FP8", TINY, fp8_tensors, files=2)
