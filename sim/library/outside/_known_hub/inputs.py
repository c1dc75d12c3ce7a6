"""How the known models take pictures and sounds: what the hub has in preprocessor_config.json, by kind of model."""
import json

_HALF = {"image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 0.5]}
_IMAGENET = {"image_mean": [0.485, 0.456, 0.406], "image_std": [0.229, 0.224, 0.225]}
_CLIP = {
    "image_mean": [0.48145466, 0.4578275, 0.40821073], "image_std": [0.26862954, 0.26130258, 0.27577711],
}  # fmt: skip


def _pictures(kind, size, **others):
    return {"image_processor_type": kind, "do_resize": True, "do_normalize": True, "size": size} | others


def _of(config):
    kind, side = config["model_type"], config.get("image_size", 224)
    if kind == "vit":
        return _pictures("ViTImageProcessor", {"height": side, "width": side}, **_HALF)
    if kind == "dinov2":
        crop = {"crop_size": {"height": 224, "width": 224}, "do_center_crop": True, "do_convert_rgb": True}
        return _pictures("BitImageProcessor", {"shortest_edge": 256}, **crop, **_IMAGENET)
    if kind == "resnet":
        return _pictures("ConvNextImageProcessor", {"shortest_edge": 224}, crop_pct=0.875, **_IMAGENET)
    if kind == "clip":
        crop = {"crop_size": 224, "do_center_crop": True, "do_convert_rgb": True}
        return _pictures("CLIPImageProcessor", {"shortest_edge": 224}, **crop, **_CLIP)
    if kind == "wav2vec2":
        return {
            "feature_extractor_type": "Wav2Vec2FeatureExtractor", "do_normalize": True, "feature_size": 1,
            "padding_side": "right", "padding_value": 0.0, "sampling_rate": 16000, "return_attention_mask": False,
        }  # fmt: skip
    if kind == "whisper":
        return {
            "feature_extractor_type": "WhisperFeatureExtractor", "feature_size": config.get("num_mel_bins", 80),
            "sampling_rate": 16000, "hop_length": 160, "chunk_length": 30, "n_fft": 400, "padding_value": 0.0,
            "return_attention_mask": False, "processor_class": "WhisperProcessor",
        }  # fmt: skip
    return None


def files_of(config):
    found = _of(config)
    return {} if found is None else {"preprocessor_config.json": [json.dumps(found)]}
