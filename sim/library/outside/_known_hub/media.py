"""Models of pictures and speech: what their configurations say beside the defaults of their classes."""

_VIT = {
    "model_type": "vit", "architectures": ["ViTForImageClassification"],
    "id2label": {str(i): f"LABEL_{i}" for i in range(1000)},
}  # fmt: skip
_LARGE = {"hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16, "intermediate_size": 4096}
_DINO = {
    "model_type": "dinov2", "architectures": ["Dinov2Model"], "image_size": 518, "patch_size": 14,
}  # fmt: skip
_CLIP = {"model_type": "clip", "architectures": ["CLIPModel"]}
_CLIP_LARGE = _CLIP | {
    "projection_dim": 768,
    "text_config": {
        "hidden_size": 768, "intermediate_size": 3072, "num_attention_heads": 12, "projection_dim": 768,
    },
    "vision_config": _LARGE | {"patch_size": 14, "projection_dim": 768},
}  # fmt: skip
_WAV2VEC2 = {"model_type": "wav2vec2", "architectures": ["Wav2Vec2ForPreTraining"]}
_WHISPER = {
    "model_type": "whisper", "architectures": ["WhisperForConditionalGeneration"], "vocab_size": 51865,
    "decoder_start_token_id": 50258, "bos_token_id": 50257, "eos_token_id": 50257, "pad_token_id": 50257,
}  # fmt: skip


def _whisper(width, layers, heads):
    return _WHISPER | {
        "d_model": width, "encoder_layers": layers, "decoder_layers": layers, "encoder_attention_heads": heads,
        "decoder_attention_heads": heads, "encoder_ffn_dim": 4 * width, "decoder_ffn_dim": 4 * width,
    }  # fmt: skip


MODELS = {
    "google/vit-base-patch16-224": _VIT,
    "google/vit-base-patch16-224-in21k": _VIT | {
        "architectures": ["ViTModel"], "id2label": {"0": "LABEL_0", "1": "LABEL_1"},
    },
    "google/vit-large-patch16-224": _VIT | _LARGE,
    "google/vit-base-patch32-384": _VIT | {"image_size": 384, "patch_size": 32},
    "facebook/dinov2-small": _DINO | {"hidden_size": 384, "num_attention_heads": 6},
    "facebook/dinov2-base": _DINO,
    "facebook/dinov2-large": _DINO | {"hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16},
    "microsoft/resnet-50": {
        "model_type": "resnet", "architectures": ["ResNetForImageClassification"],
        "id2label": {str(i): f"LABEL_{i}" for i in range(1000)},
    },
    "openai/clip-vit-base-patch32": _CLIP,
    "openai/clip-vit-base-patch16": _CLIP | {"vision_config": {"patch_size": 16}},
    "openai/clip-vit-large-patch14": _CLIP_LARGE,
    "facebook/wav2vec2-base": _WAV2VEC2,
    "facebook/wav2vec2-base-960h": _WAV2VEC2 | {"architectures": ["Wav2Vec2ForCTC"]},
    "facebook/wav2vec2-large-960h": _WAV2VEC2 | _LARGE | {"architectures": ["Wav2Vec2ForCTC"]},
    "openai/whisper-tiny": _whisper(384, 4, 6),
    "openai/whisper-base": _whisper(512, 6, 8),
    "openai/whisper-small": _whisper(768, 12, 12),
    "openai/whisper-medium": _whisper(1024, 24, 16),
    "openai/whisper-large-v2": _whisper(1280, 32, 20),
    "openai/whisper-large-v3": _whisper(1280, 32, 20) | {"vocab_size": 51866, "num_mel_bins": 128, "dtype": "float16"},
}
