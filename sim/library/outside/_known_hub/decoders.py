"""Decoders of texts: what their configurations say beside the defaults of their classes, and their weights' types."""

_GPT2 = {"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"]}
_OPT = {
    "model_type": "opt", "architectures": ["OPTForCausalLM"], "dtype": "float16", "vocab_size": 50272,
    "max_position_embeddings": 2048, "bos_token_id": 2, "eos_token_id": 2, "pad_token_id": 1,
}  # fmt: skip
_NEOX = {
    "model_type": "gpt_neox", "architectures": ["GPTNeoXForCausalLM"], "dtype": "float16", "vocab_size": 50304,
    "max_position_embeddings": 2048, "rotary_pct": 0.25, "use_parallel_residual": True, "bos_token_id": 0,
    "eos_token_id": 0, "hidden_act": "gelu",
}  # fmt: skip
_BLOOM = {
    "model_type": "bloom", "architectures": ["BloomForCausalLM"], "vocab_size": 250880, "bos_token_id": 1,
    "eos_token_id": 2, "pad_token_id": 3, "dtype": "float16",
}  # fmt: skip
_LLAMA = {
    "model_type": "llama", "architectures": ["LlamaForCausalLM"], "dtype": "bfloat16", "hidden_act": "silu",
    "bos_token_id": 128000, "eos_token_id": 128001, "rms_norm_eps": 1e-05, "vocab_size": 128256,
    "rope_theta": 500000.0,
}  # fmt: skip
_LLAMA_2 = _LLAMA | {
    "dtype": "float16", "bos_token_id": 1, "eos_token_id": 2, "vocab_size": 32000, "rope_theta": 10000.0,
    "max_position_embeddings": 4096,
}  # fmt: skip
_LLAMA_3_1 = _LLAMA | {
    "max_position_embeddings": 131072,
    "rope_scaling": {
        "factor": 8.0, "high_freq_factor": 4.0, "low_freq_factor": 1.0, "original_max_position_embeddings": 8192,
        "rope_type": "llama3",
    },
}  # fmt: skip
_LLAMA_3_2 = _LLAMA_3_1 | {"rope_scaling": _LLAMA_3_1["rope_scaling"] | {"factor": 32.0}, "tie_word_embeddings": True}
_8B = {
    "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32, "num_attention_heads": 32,
    "num_key_value_heads": 8,
}  # fmt: skip
_70B = {
    "hidden_size": 8192, "intermediate_size": 28672, "num_hidden_layers": 80, "num_attention_heads": 64,
    "num_key_value_heads": 8,
}  # fmt: skip
_1B = {
    "hidden_size": 2048, "intermediate_size": 8192, "num_hidden_layers": 16, "num_attention_heads": 32,
    "num_key_value_heads": 8, "head_dim": 64,
}  # fmt: skip
_3B = {
    "hidden_size": 3072, "intermediate_size": 8192, "num_hidden_layers": 28, "num_attention_heads": 24,
    "num_key_value_heads": 8, "head_dim": 128,
}  # fmt: skip
_MISTRAL = {
    "model_type": "mistral", "architectures": ["MistralForCausalLM"], "dtype": "bfloat16", "vocab_size": 32000,
    "bos_token_id": 1, "eos_token_id": 2, "rms_norm_eps": 1e-05, "max_position_embeddings": 32768,
    "rope_theta": 10000.0, "sliding_window": 4096,
} | _8B  # fmt: skip
_QWEN2 = {
    "model_type": "qwen2", "architectures": ["Qwen2ForCausalLM"], "dtype": "bfloat16", "vocab_size": 151936,
    "bos_token_id": 151643, "eos_token_id": 151643, "rms_norm_eps": 1e-06, "rope_theta": 1000000.0,
    "max_position_embeddings": 32768, "use_sliding_window": False,
}  # fmt: skip
_QWEN3 = _QWEN2 | {"model_type": "qwen3", "architectures": ["Qwen3ForCausalLM"], "head_dim": 128}
_GEMMA = {
    "model_type": "gemma", "architectures": ["GemmaForCausalLM"], "dtype": "bfloat16", "vocab_size": 256000,
    "head_dim": 256, "bos_token_id": 2, "eos_token_id": 1, "pad_token_id": 0, "hidden_act": "gelu_pytorch_tanh",
}  # fmt: skip
_GEMMA_2 = _GEMMA | {"model_type": "gemma2", "architectures": ["Gemma2ForCausalLM"], "dtype": "float32"}
_SMOL = _LLAMA | {
    "vocab_size": 49152, "bos_token_id": 0, "eos_token_id": 0, "tie_word_embeddings": True, "rope_theta": 100000.0,
    "max_position_embeddings": 8192,
}  # fmt: skip


def _sizes(hidden, layers, heads, intermediate, kv=None):
    out = {
        "hidden_size": hidden, "num_hidden_layers": layers, "num_attention_heads": heads,
        "intermediate_size": intermediate,
    }  # fmt: skip
    return out if kv is None else out | {"num_key_value_heads": kv}


def _opt(hidden, layers, heads):
    out = _sizes(hidden, layers, heads, 0) | {"ffn_dim": 4 * hidden, "word_embed_proj_dim": hidden}
    del out["intermediate_size"]
    return _OPT | out


def _instructed(models):
    """the same under the name of what was trained to follow instructions"""
    return models | {name + "-Instruct": config for name, config in models.items()}


MODELS = {
    "gpt2": _GPT2,
    "gpt2-medium": _GPT2 | {"n_embd": 1024, "n_layer": 24, "n_head": 16},
    "gpt2-large": _GPT2 | {"n_embd": 1280, "n_layer": 36, "n_head": 20},
    "gpt2-xl": _GPT2 | {"n_embd": 1600, "n_layer": 48, "n_head": 25},
    "distilgpt2": _GPT2 | {"n_layer": 6},
    "facebook/opt-125m": _opt(768, 12, 12),
    "facebook/opt-350m": _opt(1024, 24, 16) | {"word_embed_proj_dim": 512, "do_layer_norm_before": False},
    "facebook/opt-1.3b": _opt(2048, 24, 32),
    "facebook/opt-2.7b": _opt(2560, 32, 32),
    "facebook/opt-6.7b": _opt(4096, 32, 32),
    "facebook/opt-13b": _opt(5120, 40, 40),
    "EleutherAI/pythia-70m": _NEOX | _sizes(512, 6, 8, 2048),
    "EleutherAI/pythia-160m": _NEOX | _sizes(768, 12, 12, 3072),
    "EleutherAI/pythia-410m": _NEOX | _sizes(1024, 24, 16, 4096),
    "EleutherAI/pythia-1b": _NEOX | _sizes(2048, 16, 8, 8192),
    "EleutherAI/pythia-1.4b": _NEOX | _sizes(2048, 24, 16, 8192),
    "EleutherAI/pythia-2.8b": _NEOX | _sizes(2560, 32, 32, 10240),
    "EleutherAI/pythia-6.9b": _NEOX | _sizes(4096, 32, 32, 16384) | {"vocab_size": 50432},
    "EleutherAI/pythia-12b": _NEOX | _sizes(5120, 36, 40, 20480) | {"vocab_size": 50688},
    "EleutherAI/gpt-neo-125m": {
        "model_type": "gpt_neo", "architectures": ["GPTNeoForCausalLM"], "hidden_size": 768, "num_layers": 12,
        "num_heads": 12, "attention_types": [[["global", "local"], 6]],
    },
    "EleutherAI/gpt-j-6b": {"model_type": "gptj", "architectures": ["GPTJForCausalLM"], "tie_word_embeddings": False},
    "bigscience/bloom-560m": _BLOOM | {"hidden_size": 1024, "n_layer": 24, "n_head": 16},
    "bigscience/bloom-1b1": _BLOOM | {"hidden_size": 1536, "n_layer": 24, "n_head": 16},
    "bigscience/bloom-7b1": _BLOOM | {"hidden_size": 4096, "n_layer": 30, "n_head": 32},
    "tiiuae/falcon-7b": {
        "model_type": "falcon", "architectures": ["FalconForCausalLM"], "dtype": "bfloat16", "vocab_size": 65024,
        "hidden_size": 4544, "num_hidden_layers": 32, "num_attention_heads": 71, "multi_query": True,
        "new_decoder_architecture": False, "parallel_attn": True, "alibi": False, "bias": False,
    },
    "TinyLlama/TinyLlama-1.1B-Chat-v1.0": _LLAMA_2 | _sizes(2048, 22, 32, 5632, 4) | {
        "dtype": "bfloat16", "max_position_embeddings": 2048,
    },
    "meta-llama/Llama-2-7b-hf": _LLAMA_2 | _sizes(4096, 32, 32, 11008, 32),
    "meta-llama/Llama-2-7b-chat-hf": _LLAMA_2 | _sizes(4096, 32, 32, 11008, 32),
    "meta-llama/Llama-2-13b-hf": _LLAMA_2 | _sizes(5120, 40, 40, 13824, 40),
    "meta-llama/Llama-2-13b-chat-hf": _LLAMA_2 | _sizes(5120, 40, 40, 13824, 40),
    "meta-llama/Llama-2-70b-hf": _LLAMA_2 | _70B,
    "mistralai/Mistral-7B-v0.1": _MISTRAL,
    "mistralai/Mistral-7B-v0.3": _MISTRAL | {"vocab_size": 32768, "rope_theta": 1000000.0, "sliding_window": None},
    "mistralai/Mistral-7B-Instruct-v0.2": _MISTRAL | {"rope_theta": 1000000.0, "sliding_window": None},
    "mistralai/Mistral-7B-Instruct-v0.3": _MISTRAL | {
        "vocab_size": 32768, "rope_theta": 1000000.0, "sliding_window": None,
    },
    "mistralai/Mixtral-8x7B-v0.1": _MISTRAL | {
        "model_type": "mixtral", "architectures": ["MixtralForCausalLM"], "num_local_experts": 8,
        "num_experts_per_tok": 2, "sliding_window": None, "rope_theta": 1000000.0, "router_aux_loss_coef": 0.02,
    },
    "microsoft/phi-2": {
        "model_type": "phi", "architectures": ["PhiForCausalLM"], "dtype": "float16", "vocab_size": 51200,
        "partial_rotary_factor": 0.4, "max_position_embeddings": 2048, "hidden_act": "gelu_new",
        "bos_token_id": 50256, "eos_token_id": 50256, "resid_pdrop": 0.1,
    } | _sizes(2560, 32, 32, 10240, 32),
    "microsoft/Phi-3-mini-4k-instruct": {
        "model_type": "phi3", "architectures": ["Phi3ForCausalLM"], "dtype": "bfloat16", "vocab_size": 32064,
        "bos_token_id": 1, "eos_token_id": 32000, "pad_token_id": 32000, "max_position_embeddings": 4096,
        "sliding_window": 2047, "rms_norm_eps": 1e-05,
    } | _sizes(3072, 32, 32, 8192, 32),
    "google/gemma-2b": _GEMMA | _sizes(2048, 18, 8, 16384, 1),
    "google/gemma-2b-it": _GEMMA | _sizes(2048, 18, 8, 16384, 1),
    "google/gemma-7b": _GEMMA | _sizes(3072, 28, 16, 24576, 16),
    "google/gemma-7b-it": _GEMMA | _sizes(3072, 28, 16, 24576, 16),
    "google/gemma-2-2b": _GEMMA_2 | _sizes(2304, 26, 8, 9216, 4),
    "google/gemma-2-2b-it": _GEMMA_2 | _sizes(2304, 26, 8, 9216, 4) | {"dtype": "bfloat16"},
    "google/gemma-2-9b": _GEMMA_2 | _sizes(3584, 42, 16, 14336, 8),
    "HuggingFaceTB/SmolLM2-135M": _SMOL | _sizes(576, 30, 9, 1536, 3),
    "HuggingFaceTB/SmolLM2-360M": _SMOL | _sizes(960, 32, 15, 2560, 5),
    "HuggingFaceTB/SmolLM2-1.7B": _SMOL | _sizes(2048, 24, 32, 8192, 32),
} | _instructed({
    "meta-llama/Meta-Llama-3-8B": _LLAMA | _8B | {"max_position_embeddings": 8192},
    "meta-llama/Meta-Llama-3-70B": _LLAMA | _70B | {"max_position_embeddings": 8192},
    "meta-llama/Llama-3.1-8B": _LLAMA_3_1 | _8B,
    "meta-llama/Llama-3.1-70B": _LLAMA_3_1 | _70B,
    "meta-llama/Llama-3.2-1B": _LLAMA_3_2 | _1B,
    "meta-llama/Llama-3.2-3B": _LLAMA_3_2 | _3B,
    "Qwen/Qwen2-0.5B": _QWEN2 | _sizes(896, 24, 14, 4864, 2) | {"tie_word_embeddings": True},
    "Qwen/Qwen2-1.5B": _QWEN2 | _sizes(1536, 28, 12, 8960, 2) | {"tie_word_embeddings": True},
    "Qwen/Qwen2-7B": _QWEN2 | _sizes(3584, 28, 28, 18944, 4) | {"vocab_size": 152064},
    "Qwen/Qwen2.5-0.5B": _QWEN2 | _sizes(896, 24, 14, 4864, 2) | {"tie_word_embeddings": True},
    "Qwen/Qwen2.5-1.5B": _QWEN2 | _sizes(1536, 28, 12, 8960, 2) | {"tie_word_embeddings": True},
    "Qwen/Qwen2.5-3B": _QWEN2 | _sizes(2048, 36, 16, 11008, 2) | {"tie_word_embeddings": True},
    "Qwen/Qwen2.5-7B": _QWEN2 | _sizes(3584, 28, 28, 18944, 4) | {"vocab_size": 152064},
    "Qwen/Qwen2.5-14B": _QWEN2 | _sizes(5120, 48, 40, 13824, 8) | {"vocab_size": 152064, "rms_norm_eps": 1e-05},
    "Qwen/Qwen2.5-32B": _QWEN2 | _sizes(5120, 64, 40, 27648, 8) | {"vocab_size": 152064, "rms_norm_eps": 1e-05},
    "Qwen/Qwen2.5-72B": _QWEN2 | _sizes(8192, 80, 64, 29568, 8) | {"vocab_size": 152064, "rms_norm_eps": 1e-05},
}) | {
    name: config | {"max_position_embeddings": 40960}
    for name, config in {
        "Qwen/Qwen3-0.6B": _QWEN3 | _sizes(1024, 28, 16, 3072, 8) | {"tie_word_embeddings": True},
        "Qwen/Qwen3-1.7B": _QWEN3 | _sizes(2048, 28, 16, 6144, 8) | {"tie_word_embeddings": True},
        "Qwen/Qwen3-4B": _QWEN3 | _sizes(2560, 36, 32, 9728, 8) | {"tie_word_embeddings": True},
        "Qwen/Qwen3-8B": _QWEN3 | _sizes(4096, 36, 32, 12288, 8),
        "Qwen/Qwen3-14B": _QWEN3 | _sizes(5120, 40, 40, 17408, 8),
        "Qwen/Qwen3-32B": _QWEN3 | _sizes(5120, 64, 64, 25600, 8),
    }.items()
}  # fmt: skip
