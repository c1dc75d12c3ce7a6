"""Pipelines of diffusion models: the configurations of their parts, by folder, beside the defaults of their classes;
and whole files by their names."""

_WITH_TEXT = ["CrossAttnDownBlock2D", "CrossAttnDownBlock2D", "CrossAttnDownBlock2D", "DownBlock2D"]
_TO_PICTURE = ["UpBlock2D", "CrossAttnUpBlock2D", "CrossAttnUpBlock2D", "CrossAttnUpBlock2D"]
_UNET = {
    "_class_name": "UNet2DConditionModel", "in_channels": 4, "out_channels": 4, "sample_size": 64,
    "block_out_channels": [320, 640, 1280, 1280], "layers_per_block": 2, "down_block_types": _WITH_TEXT,
    "up_block_types": _TO_PICTURE, "cross_attention_dim": 768, "attention_head_dim": 8,
}  # fmt: skip
_VAE = {
    "_class_name": "AutoencoderKL", "in_channels": 3, "out_channels": 3, "latent_channels": 4, "sample_size": 512,
    "block_out_channels": [128, 256, 512, 512], "layers_per_block": 2, "down_block_types": ["DownEncoderBlock2D"] * 4,
    "up_block_types": ["UpDecoderBlock2D"] * 4, "norm_num_groups": 32, "act_fn": "silu",
}  # fmt: skip
_TEXT = {
    "model_type": "clip_text_model", "architectures": ["CLIPTextModel"], "vocab_size": 49408, "hidden_size": 768,
    "intermediate_size": 3072, "num_hidden_layers": 12, "num_attention_heads": 12, "max_position_embeddings": 77,
    "projection_dim": 768, "hidden_act": "quick_gelu", "layer_norm_eps": 1e-05, "bos_token_id": 0, "eos_token_id": 2,
    "pad_token_id": 1,
}  # fmt: skip
_NOISE = {
    "_class_name": "PNDMScheduler", "beta_start": 0.00085, "beta_end": 0.012, "beta_schedule": "scaled_linear",
    "num_train_timesteps": 1000, "skip_prk_steps": True, "steps_offset": 1, "set_alpha_to_one": False,
}  # fmt: skip
_CHECKER = {
    "model_type": "clip", "architectures": ["StableDiffusionSafetyChecker"], "projection_dim": 768,
    "text_config": {
        "hidden_size": 768, "intermediate_size": 3072, "num_attention_heads": 12, "projection_dim": 768,
    },
    "vision_config": {
        "hidden_size": 1024, "intermediate_size": 4096, "num_hidden_layers": 24, "num_attention_heads": 16,
        "patch_size": 14, "projection_dim": 768,
    },
}  # fmt: skip
_PICTURES = {
    "crop_size": 224, "do_center_crop": True, "do_convert_rgb": True, "do_normalize": True, "do_resize": True,
    "feature_extractor_type": "CLIPFeatureExtractor", "image_mean": [0.48145466, 0.4578275, 0.40821073],
    "image_std": [0.26862954, 0.26130258, 0.27577711], "resample": 3, "size": 224,
}  # fmt: skip
_SD_INDEX = {
    "_class_name": "StableDiffusionPipeline", "_diffusers_version": "0.6.0",
    "scheduler": ["diffusers", "PNDMScheduler"], "text_encoder": ["transformers", "CLIPTextModel"],
    "tokenizer": ["transformers", "CLIPTokenizer"], "unet": ["diffusers", "UNet2DConditionModel"],
    "vae": ["diffusers", "AutoencoderKL"],
}  # fmt: skip
_SD_1 = {
    "unet": _UNET, "vae": _VAE, "text_encoder": _TEXT, "scheduler": _NOISE, "safety_checker": _CHECKER,
    "feature_extractor/preprocessor_config.json": _PICTURES,
    "model_index.json": _SD_INDEX | {
        "safety_checker": ["stable_diffusion", "StableDiffusionSafetyChecker"],
        "feature_extractor": ["transformers", "CLIPFeatureExtractor"],
    },
}  # fmt: skip
_TEXT_2 = _TEXT | {
    "hidden_size": 1024, "intermediate_size": 4096, "num_hidden_layers": 23, "num_attention_heads": 16,
    "projection_dim": 512, "hidden_act": "gelu",
}  # fmt: skip
_SD_2 = {
    "model_index.json": _SD_INDEX | {
        "scheduler": ["diffusers", "DDIMScheduler"], "requires_safety_checker": False,
    },
    "unet": _UNET | {
        "cross_attention_dim": 1024, "attention_head_dim": [5, 10, 20, 20], "use_linear_projection": True,
        "sample_size": 96,
    },
    "vae": _VAE | {"sample_size": 768},
    "text_encoder": _TEXT_2,
    "scheduler": _NOISE | {"_class_name": "DDIMScheduler", "prediction_type": "v_prediction"},
}  # fmt: skip
_SDXL = {
    "model_index.json": _SD_INDEX | {
        "_class_name": "StableDiffusionXLPipeline", "scheduler": ["diffusers", "EulerDiscreteScheduler"],
        "text_encoder_2": ["transformers", "CLIPTextModelWithProjection"],
        "tokenizer_2": ["transformers", "CLIPTokenizer"], "force_zeros_for_empty_prompt": True,
    },
    "unet": _UNET | {
        "sample_size": 128, "block_out_channels": [320, 640, 1280], "cross_attention_dim": 2048,
        "down_block_types": ["DownBlock2D", "CrossAttnDownBlock2D", "CrossAttnDownBlock2D"],
        "up_block_types": ["CrossAttnUpBlock2D", "CrossAttnUpBlock2D", "UpBlock2D"],
        "attention_head_dim": [5, 10, 20], "transformer_layers_per_block": [1, 2, 10], "use_linear_projection": True,
        "addition_embed_type": "text_time", "addition_time_embed_dim": 256,
        "projection_class_embeddings_input_dim": 2816,
    },
    "vae": _VAE | {"sample_size": 1024, "scaling_factor": 0.13025, "force_upcast": True},
    "text_encoder": _TEXT,
    "text_encoder_2": _TEXT | {
        "architectures": ["CLIPTextModelWithProjection"], "hidden_size": 1280, "intermediate_size": 5120,
        "num_hidden_layers": 32, "num_attention_heads": 20, "projection_dim": 1280, "hidden_act": "gelu",
    },
    "scheduler": _NOISE | {"_class_name": "EulerDiscreteScheduler", "timestep_spacing": "leading"},
}  # fmt: skip

MODELS = {
    "runwayml/stable-diffusion-v1-5": _SD_1,
    "stable-diffusion-v1-5/stable-diffusion-v1-5": _SD_1,
    "CompVis/stable-diffusion-v1-4": _SD_1,
    "stabilityai/stable-diffusion-2-1": _SD_2,
    "stabilityai/stable-diffusion-xl-base-1.0": _SDXL,
    "stabilityai/sd-vae-ft-mse": {"": _VAE | {"sample_size": 256}},
    "madebyollin/sdxl-vae-fp16-fix": {"": _SDXL["vae"] | {"force_upcast": False}},
}
