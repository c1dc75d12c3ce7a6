"""One of transformers' models, from a small config: made, and trained for a step. Without a name: which there are. A second
argument ends it earlier: imported, constructed."""
import sys

import numpy
import torch
from transformers import CONFIG_MAPPING
from transformers.models.auto import modeling_auto

import transformers

KINDS = {
    "causal": modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
    "masked": modeling_auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES,
    "translation": modeling_auto.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES,
    "image": modeling_auto.MODEL_FOR_IMAGE_CLASSIFICATION_MAPPING_NAMES,
    "audio": modeling_auto.MODEL_FOR_AUDIO_CLASSIFICATION_MAPPING_NAMES,
    "segments": modeling_auto.MODEL_FOR_SEMANTIC_SEGMENTATION_MAPPING_NAMES,
    "pairs": modeling_auto.MODEL_FOR_ZERO_SHOT_IMAGE_CLASSIFICATION_MAPPING_NAMES,
    "texts": modeling_auto.MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES,
}
if len(sys.argv) == 1:
    print("\n".join(f"{kind}:{name}" for kind, table in KINDS.items() for name in table))
    sys.exit()
if sys.argv[2:] == ["imported"]:
    sys.exit()

SMALL = {
    "vocab_size": 512, "hidden_size": 64, "d_model": 64, "n_embd": 64, "dim": 64, "embedding_size": 64, "embed_dim": 64,
    "num_hidden_layers": 2, "n_layer": 2, "n_layers": 2, "num_layers": 2, "encoder_layers": 2, "decoder_layers": 2,
    "num_decoder_layers": 2, "num_encoder_layers": 2, "num_attention_heads": 4, "n_head": 4, "n_heads": 4, "num_heads": 4,
    "encoder_attention_heads": 4, "decoder_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16, "d_kv": 16,
    "intermediate_size": 128, "ffn_dim": 128, "d_ff": 128, "n_inner": 128, "encoder_ffn_dim": 128, "decoder_ffn_dim": 128,
    "num_experts": 4, "num_local_experts": 4, "n_routed_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 64,
    "q_lora_rank": 32, "kv_lora_rank": 32, "qk_rope_head_dim": 16, "qk_nope_head_dim": 16, "v_head_dim": 16, "rotary_dim": 16,
    "n_group": 1, "topk_group": 1, "index_n_heads": 2, "index_head_dim": 32, "index_topk": 8, "attn_layer_period": 2,
    "attn_layer_offset": 1, "decoder_attention_head_dim": 16, "image_size": 64, "max_position_embeddings": 256,
    "n_positions": 256, "num_labels": 5, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 1,
}
# Keys of a small config that a default of None leaves to the model, and what single models want otherwise.
FILLED = ("head_dim", "n_routed_experts", "num_experts", "moe_intermediate_size")
LATENT = {"num_key_value_heads": 4}
MIXED = {"layer_types": ["linear_attention", "full_attention"]}
UNSHARED = {"num_kv_shared_layers": 0}
OWN = {
    "axk1": LATENT, "axk2": LATENT, "deepseek_v2": {**LATENT, "num_experts_per_tok": 2}, "deepseek_v3": LATENT, "deepseek_v32": LATENT, "glm_moe_dsa": LATENT,
    "gpt_neo": {"attention_types": [[["global", "local"], 1]]}, "bamba": {"attn_layer_indices": [1]},
    "granitemoehybrid": MIXED, "lfm2_moe": {"layer_types": ["conv", "full_attention"], "num_dense_layers": 1},
    "mamba2": {"num_heads": 8, "head_dim": 16, "n_groups": 2}, "reformer": {"is_decoder": True, "axial_pos_shape": [4, 8],
    "axial_pos_embds_dim": [32, 32]}, "zaya": {"num_experts_per_tok": 1}, "esmc": {"num_key_value_heads": 4},
    "swin": {"image_size": 224}, "donut-swin": {"image_size": 224}, "swinv2": {"image_size": 256},
    "bailing_hybrid": LATENT, "glm4_moe_lite": LATENT, "kimi_linear": LATENT, "longcat_flash": LATENT, "minicpm3": LATENT,
    "youtu": LATENT, "dots3_note": LATENT, "dots3_note_text": LATENT, "nemotron": LATENT, "dots1": {"n_shared_experts": 1},
    "gemma3n": UNSHARED, "gemma3n_text": UNSHARED, "gemma4_unified_assistant": UNSHARED,
    "gemma4_assistant": {**UNSHARED, "hidden_size_per_layer_input": 0},
    "xmod": {"default_language": "en_XX"}, "xlstm": {"head_dim": None}, "esm": {"vocab_size": 33, "pad_token_id": 1},
}


def small(config, own=None):
    """The values that a config takes, smaller where they are plain numbers; one layer of each kind."""
    values = config.to_dict()
    kwargs = {}
    for key, value in SMALL.items():
        present = values.get(key)
        if isinstance(present, int) or (key in values and present is None and (key in FILLED or key.endswith("token_id"))):
            kwargs[key] = value
    if isinstance(values.get("num_heads"), list):
        kwargs.pop("embed_dim", None)
    kinds = values.get("layer_types")
    if isinstance(kinds, list) and kinds:
        kwargs["layer_types"] = list(dict.fromkeys(kinds)) if len(set(kinds)) > 1 else kinds[:2]
        kwargs["num_hidden_layers"] = len(kwargs["layer_types"])
    for part in ("text_config", "vision_config", "audio_config", "encoder", "decoder"):
        inner = getattr(config, part, None)
        if inner is not None and hasattr(inner, "to_dict"):
            kwargs[part] = small(inner)
    return {**kwargs, **(own or {})}


numpy.random.seed(0)  # masks of what a model hears
kind, name = sys.argv[1].split(":")
config_class = CONFIG_MAPPING[name]
own = {"decoder_start_token_id": 0, "pad_token_id": 0} if kind == "translation" or name == "t5" else {}
if sys.argv[1] == "masked:reformer":
    own["is_decoder"] = False
config = config_class(**small(config_class(), {**OWN.get(name, {}), **own}))
class_name = KINDS[kind][name]
model_class = getattr(transformers, class_name if isinstance(class_name, str) else class_name[0])
for part in ("text_config", "decoder"):  # as from_config does where the class is that of a part
    if isinstance(getattr(config, part, None), model_class.config_class) and not isinstance(config, model_class.config_class):
        config = getattr(config, part)
model = model_class(config).cuda()
if sys.argv[2:] == ["constructed"]:
    sys.exit()
model.train()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
labels = torch.randint(0, 2, (2,)).cuda()
ids = torch.randint(5, 250, (2, 32)).cuda()
if kind in ("image", "segments", "pairs"):
    vision = getattr(config, "vision_config", config)
    size = getattr(vision, "image_size", 64) or 64
    size = size if isinstance(size, (list, tuple)) else (size, size)
    pixels = torch.randn(2, getattr(vision, "num_channels", 3) or 3, *size).cuda()
    if kind == "pairs":
        out = model(input_ids=ids[:, :16], pixel_values=pixels, return_loss=True)
    else:
        out = model(pixel_values=pixels, labels=labels if kind == "image" else torch.zeros(2, *size, dtype=torch.long).cuda())
elif kind == "texts":
    end = getattr(config, "eos_token_id", None) or 2
    ids[:, -1] = end[0] if isinstance(end, list) else end
    out = model(input_ids=ids, labels=labels)
elif kind == "audio":
    spectrogram = getattr(config, "num_mel_bins", None)
    if name in ("audio-spectrogram-transformer", "whisper"):
        shape = (2, config.max_length, spectrogram) if hasattr(config, "max_length") and name != "whisper" else (2, spectrogram, 3000)
        out = model(torch.randn(*shape).cuda(), labels=labels)
    elif name in ("wav2vec2-bert",):
        out = model(torch.randn(2, 100, config.feature_projection_input_dim).cuda(), labels=labels)
    else:
        out = model(torch.randn(2, 8000).cuda(), labels=labels)
else:
    out = model(input_ids=ids, labels=ids)
out.loss.backward()
optimizer.step()
