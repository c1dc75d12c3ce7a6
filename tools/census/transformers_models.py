"""One of transformers' models, from a small config: made, and trained for a step. Without a name: which there are. A second
argument ends it earlier: imported, constructed."""
import sys

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
    "image_size": 64, "max_position_embeddings": 256, "n_positions": 256, "num_labels": 5, "pad_token_id": 0,
    "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 1,
}


def small(config):
    """The values that a config takes, smaller where they are plain numbers."""
    values = config.to_dict()
    kwargs = {}
    for key, value in SMALL.items():
        if isinstance(values.get(key), int) or (key in values and values[key] is None and key.endswith("token_id")):
            kwargs[key] = value
    for part in ("text_config", "vision_config", "audio_config", "encoder", "decoder"):
        inner = getattr(config, part, None)
        if inner is not None and hasattr(inner, "to_dict"):
            kwargs[part] = small(inner)
    return kwargs


kind, name = sys.argv[1].split(":")
config_class = CONFIG_MAPPING[name]
config = config_class(**small(config_class()))
model = getattr(transformers, KINDS[kind][name])(config).cuda()
if sys.argv[2:] == ["constructed"]:
    sys.exit()
model.train()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
labels = torch.randint(0, 2, (2,)).cuda()
ids = torch.randint(5, 250, (2, 32)).cuda()
if kind == "image":
    size = getattr(config, "image_size", 64) or 64
    size = size if isinstance(size, (list, tuple)) else (size, size)
    out = model(pixel_values=torch.randn(2, getattr(config, "num_channels", 3) or 3, *size).cuda(), labels=labels)
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
