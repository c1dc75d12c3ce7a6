"""One of diffusers' models or schedulers, small: made, and trained for a step. Without a name: which there are. A second
argument ends it earlier: imported, constructed."""
import inspect
import sys

import torch

import diffusers
from diffusers import models, schedulers

UNET = {"block_out_channels": (32, 64), "norm_num_groups": 8, "layers_per_block": 1}
CROSS = {"down_block_types": ("CrossAttnDownBlock2D", "DownBlock2D"), "cross_attention_dim": 32, "attention_head_dim": 8, **UNET}
UP = {"up_block_types": ("UpBlock2D", "CrossAttnUpBlock2D")}
VAE = {"block_out_channels": (32, 64), "norm_num_groups": 8, "down_block_types": ("DownEncoderBlock2D",) * 2}
HEADS = {"num_attention_heads": 4, "attention_head_dim": 16, "num_layers": 2}
FLUX = {**HEADS, "num_single_layers": 2, "joint_attention_dim": 32, "axes_dims_rope": (4, 6, 6), "in_channels": 16}
WAN_VAE = {"base_dim": 16, "z_dim": 16, "num_res_blocks": 1}


def random(*shape):
    return torch.randn(*shape).cuda()


def flux_inputs(**more):
    return {"hidden_states": random(2, 64, 16), "encoder_hidden_states": random(2, 8, 32), "timestep": torch.rand(2).cuda(),
            "img_ids": torch.zeros(64, 3).cuda(), "txt_ids": torch.zeros(8, 3).cuda(), **more}


def text(channels, length=8):
    return {"encoder_hidden_states": random(2, length, channels)}


def steps():
    return {"timestep": torch.randint(0, 1000, (2,)).cuda()}


def mask(length=8, dtype=torch.bool):
    return {"encoder_attention_mask": torch.ones(2, length, dtype=dtype).cuda()}


def image(channels=3, side=32):
    return {"sample": random(2, channels, side, side)}


def latents(channels=4, side=16):
    return {"hidden_states": random(2, channels, side, side)}


def video(channels=3, frames=5, side=32, name="sample"):
    return {name: random(1, channels, frames, side, side)}


# What a model is made with, and what it is called with.
MODELS = {
    "UNet2DModel": ({"sample_size": 32, "down_block_types": ("DownBlock2D", "AttnDownBlock2D"),
                     "up_block_types": ("AttnUpBlock2D", "UpBlock2D"), **UNET}, lambda: {**image(), **steps()}),
    "UNet2DConditionModel": ({"sample_size": 16, **CROSS, **UP}, lambda: {**image(4, 16), **steps(), **text(32)}),
    "UNet1DModel": ({"sample_size": 64, "in_channels": 8, "out_channels": 8, "time_embedding_type": "positional",
                     "down_block_types": ("DownResnetBlock1D",) * 2, "up_block_types": ("UpResnetBlock1D",),
                     "mid_block_type": "MidResTemporalBlock1D", "out_block_type": "OutConv1DBlock", "act_fn": "swish",
                     "block_out_channels": (32, 64), "use_timestep_embedding": True, "time_embedding_dim": None},
                    lambda: {"sample": random(2, 8, 64), **steps()}),
    "UNet3DConditionModel": ({"down_block_types": ("CrossAttnDownBlock3D", "DownBlock3D"),
                              "up_block_types": ("UpBlock3D", "CrossAttnUpBlock3D"), "cross_attention_dim": 32,
                              "attention_head_dim": 8, **UNET}, lambda: {"sample": random(2, 4, 4, 16, 16), **steps(), **text(32)}),
    "UNetMotionModel": ({"sample_size": 16, "down_block_types": ("CrossAttnDownBlockMotion", "DownBlockMotion"),
                         "up_block_types": ("UpBlockMotion", "CrossAttnUpBlockMotion"), "cross_attention_dim": 32,
                         "num_attention_heads": 4, "motion_num_attention_heads": 4, **UNET},
                        lambda: {"sample": random(2, 4, 4, 16, 16), **steps(), "encoder_hidden_states": random(8, 8, 32)}),
    "UNetSpatioTemporalConditionModel": (
        {"sample_size": 16, "block_out_channels": (32, 64), "num_attention_heads": (4, 8), "cross_attention_dim": 32,
         "down_block_types": ("CrossAttnDownBlockSpatioTemporal", "DownBlockSpatioTemporal"), "layers_per_block": 1,
         "up_block_types": ("UpBlockSpatioTemporal", "CrossAttnUpBlockSpatioTemporal"),
         "projection_class_embeddings_input_dim": 96, "addition_time_embed_dim": 32},
        lambda: {"sample": random(2, 2, 8, 16, 16), **steps(), **text(32, 1), "added_time_ids": torch.ones(2, 3).cuda()}),
    "I2VGenXLUNet": ({"sample_size": 16, "down_block_types": ("CrossAttnDownBlock3D", "DownBlock3D"),
                      "up_block_types": ("UpBlock3D", "CrossAttnUpBlock3D"), "cross_attention_dim": 32,
                      "attention_head_dim": 8, "num_attention_heads": None, **UNET},
                     lambda: {"sample": random(2, 4, 4, 16, 16), **steps(), **text(32), "fps": torch.tensor([8, 8]).cuda(),
                              "image_latents": random(2, 4, 4, 16, 16), "image_embeddings": random(2, 32)}),
    "Kandinsky3UNet": ({"time_embedding_dim": 32, "groups": 4, "attention_head_dim": 8, "layers_per_block": 1,
                        "block_out_channels": (32, 32), "cross_attention_dim": 32, "encoder_hid_dim": 32},
                       lambda: {**image(4, 16), **steps(), **text(32), **mask(8, torch.float)}),
    "UVit2DModel": ({"hidden_size": 32, "cond_embed_dim": 32, "micro_cond_encode_dim": 4, "micro_cond_embed_dim": 20,
                     "encoder_hidden_size": 32, "vocab_size": 64, "codebook_size": 60, "in_channels": 32, "num_res_blocks": 1,
                     "block_out_channels": 32, "block_num_heads": 4, "num_hidden_layers": 2, "num_attention_heads": 4,
                     "intermediate_size": 64, "sample_size": 8},
                    lambda: {"input_ids": torch.randint(0, 60, (2, 8, 8)).cuda(), **text(32), "pooled_text_emb": random(2, 32),
                             "micro_conds": torch.ones(2, 5).cuda()}),
    "StableCascadeUNet": ({"in_channels": 16, "out_channels": 16, "conditioning_dim": 64, "block_out_channels": (32, 64),
                           "num_attention_heads": (0, 4), "down_num_layers_per_block": (1, 1), "patch_size": 1,
                           "up_num_layers_per_block": (1, 1), "down_blocks_repeat_mappers": (1, 1),
                           "up_blocks_repeat_mappers": (1, 1), "block_types_per_layer": (
                               ("SDCascadeResBlock", "SDCascadeTimestepBlock"),
                               ("SDCascadeResBlock", "SDCascadeTimestepBlock", "SDCascadeAttnBlock")),
                           "clip_text_in_channels": 32, "clip_text_pooled_in_channels": 32, "clip_image_in_channels": 32,
                           "switch_level": (True,), "kernel_size": 3},
                          lambda: {**image(16, 16), "timestep_ratio": torch.rand(2).cuda(), "clip_text_pooled": random(2, 1, 32),
                                   "clip_text": random(2, 8, 32), "clip_img": random(2, 1, 32)}),
    "AutoencoderKL": ({**VAE, "up_block_types": ("UpDecoderBlock2D",) * 2}, image),
    "AsymmetricAutoencoderKL": ({"down_block_types": ("DownEncoderBlock2D",) * 2, "down_block_out_channels": (32, 64),
                                 "up_block_types": ("UpDecoderBlock2D",) * 2, "up_block_out_channels": (32, 64),
                                 "norm_num_groups": 8}, lambda: {**image(), "mask": torch.ones(2, 1, 32, 32).cuda()}),
    "AutoencoderKLTemporalDecoder": ({"down_block_types": ("DownEncoderBlock2D",) * 2, "block_out_channels": (32, 64)},
                                     lambda: {**image(), "num_frames": 2}),
    "AutoencoderTiny": ({"encoder_block_out_channels": (32, 32), "decoder_block_out_channels": (32, 32),
                         "num_encoder_blocks": (1, 1), "num_decoder_blocks": (1, 1)}, image),
    "AutoencoderDC": ({"latent_channels": 8, "attention_head_dim": 8, "encoder_block_out_channels": (16, 32),
                       "decoder_block_out_channels": (16, 32), "encoder_layers_per_block": (1, 1),
                       "decoder_layers_per_block": (1, 1), "encoder_block_types": ("ResBlock", "EfficientViTBlock"),
                       "decoder_block_types": ("ResBlock", "EfficientViTBlock"), "encoder_qkv_multiscales": ((), (5,)),
                       "decoder_qkv_multiscales": ((), (5,)), "upsample_block_type": "interpolate",
                       "downsample_block_type": "stride_conv", "decoder_norm_types": "rms_norm",
                       "decoder_act_fns": "silu", "scaling_factor": 0.4}, image),
    "VQModel": ({**VAE, "up_block_types": ("UpDecoderBlock2D",) * 2, "num_vq_embeddings": 64}, image),
    "AutoencoderKLFlux2": ({**VAE, "up_block_types": ("UpDecoderBlock2D",) * 2}, image),
    "AutoencoderKLCogVideoX": ({"block_out_channels": (32, 32, 64, 64), "layers_per_block": 1, "norm_num_groups": 8,
                                "latent_channels": 4}, video),
    "AutoencoderKLWan": (WAN_VAE, video),
    "AutoencoderKLQwenImage": (WAN_VAE, video),
    "AutoencoderKLLTXVideo": ({"latent_channels": 8, "block_out_channels": (16, 32), "decoder_block_out_channels": (16, 32),
                               "layers_per_block": (1, 1, 1), "decoder_layers_per_block": (1, 1, 1),
                               "spatio_temporal_scaling": (True, False), "decoder_inject_noise": (False, False, False),
                               "decoder_spatio_temporal_scaling": (True, False), "upsample_residual": (False, False),
                               "upsample_factor": (1, 1), "down_block_types": ("LTXVideoDownBlock3D",) * 2},
                              lambda: video(frames=9)),
    "AutoencoderKLHunyuanVideo": ({"latent_channels": 4, "block_out_channels": (8, 8, 8, 8), "layers_per_block": 1,
                                   "norm_num_groups": 4}, video),
    "AutoencoderOobleck": ({"encoder_hidden_size": 16, "downsampling_ratios": [2, 4], "channel_multiples": [1, 2],
                            "decoder_channels": 16, "decoder_input_channels": 8}, lambda: {"sample": random(2, 2, 256)}),
    "Transformer2DModel": ({**HEADS, "in_channels": 32, "norm_num_groups": 8, "cross_attention_dim": 32},
                           lambda: {**latents(32), **text(32)}),
    "TransformerTemporalModel": ({**HEADS, "in_channels": 32, "norm_num_groups": 8},
                                 lambda: {**latents(32), "num_frames": 2}),
    "DualTransformer2DModel": ({**HEADS, "in_channels": 32, "norm_num_groups": 8, "cross_attention_dim": 32},
                               lambda: {**latents(32), **text(32, 77 + 257)}),
    "DiTTransformer2DModel": ({**HEADS, "in_channels": 4, "out_channels": 8, "sample_size": 16},
                              lambda: {**latents(), **steps(), "class_labels": torch.randint(0, 1000, (2,)).cuda()}),
    "PixArtTransformer2DModel": ({**HEADS, "cross_attention_dim": 64, "sample_size": 16, "caption_channels": 32,
                                  "use_additional_conditions": False},
                                 lambda: {**latents(), **steps(), **text(32), "added_cond_kwargs":
                                          {"resolution": None, "aspect_ratio": None}}),
    "SD3Transformer2DModel": ({**HEADS, "sample_size": 16, "in_channels": 4, "out_channels": 4, "joint_attention_dim": 32,
                               "caption_projection_dim": 64, "pooled_projection_dim": 64, "pos_embed_max_size": 96},
                              lambda: {**latents(), **text(32), "pooled_projections": random(2, 64), **steps()}),
    "FluxTransformer2DModel": ({**FLUX, "pooled_projection_dim": 32},
                               lambda: flux_inputs(pooled_projections=random(2, 32))),
    "Flux2Transformer2DModel": ({**FLUX, "axes_dims_rope": (4, 4, 4, 4), "timestep_guidance_channels": 32},
                                lambda: flux_inputs(img_ids=torch.zeros(64, 4).cuda(), txt_ids=torch.zeros(8, 4).cuda(),
                                                    guidance=torch.ones(2).cuda())),
    "ChromaTransformer2DModel": ({**FLUX, "approximator_num_channels": 16, "approximator_hidden_dim": 32,
                                  "approximator_layers": 1}, flux_inputs),
    "BriaTransformer2DModel": ({**FLUX, "pooled_projection_dim": None, "axes_dims_rope": [4, 6, 6]}, flux_inputs),
    "AuraFlowTransformer2DModel": ({"sample_size": 16, "num_mmdit_layers": 1, "num_single_dit_layers": 1,
                                    "attention_head_dim": 16, "num_attention_heads": 4, "joint_attention_dim": 32,
                                    "caption_projection_dim": 64, "pos_embed_max_size": 256},
                                   lambda: {**latents(), **text(32), "timestep": torch.rand(2).cuda()}),
    "SanaTransformer2DModel": ({"in_channels": 4, "out_channels": 4, "num_layers": 2, "num_attention_heads": 2,
                                "attention_head_dim": 16, "num_cross_attention_heads": 2, "cross_attention_head_dim": 16,
                                "cross_attention_dim": 32, "caption_channels": 32, "sample_size": 16},
                               lambda: {**latents(), **text(32), **steps()}),
    "HunyuanDiT2DModel": ({"num_attention_heads": 4, "attention_head_dim": 16, "in_channels": 4, "patch_size": 2,
                           "sample_size": 16, "hidden_size": 64, "num_layers": 2, "cross_attention_dim": 32,
                           "cross_attention_dim_t5": 32, "pooled_projection_dim": 16, "text_len": 4, "text_len_t5": 4},
                          lambda: {**latents(), "timestep": torch.rand(2).cuda(), **text(32, 4), "encoder_hidden_states_t5": random(2, 4, 32),
                                   "text_embedding_mask": torch.ones(2, 4, dtype=torch.int64).cuda(),
                                   "text_embedding_mask_t5": torch.ones(2, 4, dtype=torch.int64).cuda(),
                                   "image_meta_size": random(2, 6), "style": torch.zeros(2, dtype=torch.long).cuda(),
                                   "image_rotary_emb": [random(64, 16), random(64, 16)]}),
    "Lumina2Transformer2DModel": ({"sample_size": 16, "in_channels": 4, "hidden_size": 48, "num_layers": 2,
                                   "num_refiner_layers": 1, "num_attention_heads": 4, "num_kv_heads": 2, "multiple_of": 16,
                                   "axes_dim_rope": (4, 4, 4), "axes_lens": (64, 64, 64), "cap_feat_dim": 32},
                                  lambda: {**latents(), "timestep": torch.rand(2).cuda(), **text(32), **mask()}),
    "CogView3PlusTransformer2DModel": ({**HEADS, "in_channels": 4, "out_channels": 4, "text_embed_dim": 32,
                                        "time_embed_dim": 32, "condition_dim": 8, "pos_embed_max_size": 16, "sample_size": 16},
                                       lambda: {**latents(), **text(32), **steps(), **sizes()}),
    "CogView4Transformer2DModel": ({**HEADS, "in_channels": 4, "out_channels": 4, "text_embed_dim": 32, "time_embed_dim": 32,
                                    "condition_dim": 8, "pos_embed_max_size": 16, "sample_size": 16, "rope_axes_dim": (16, 16)},
                                   lambda: {**latents(), **text(32), **steps(), **sizes()}),
    "PriorTransformer": ({**HEADS, "embedding_dim": 32, "num_embeddings": 8},
                         lambda: {"hidden_states": random(2, 32), **steps(), "proj_embedding": random(2, 32), **text(32)}),
    "OmniGenTransformer2DModel": ({"hidden_size": 64, "num_attention_heads": 4, "num_key_value_heads": 4, "num_layers": 2,
                                   "intermediate_size": 128, "pad_token_id": 0, "vocab_size": 256, "in_channels": 4,
                                   "rope_scaling": {"long_factor": list(range(1, 9)), "short_factor": list(range(1, 9))}},
                                  lambda: {**latents(), "timestep": torch.rand(2).cuda(), "input_ids": None,
                                           "input_img_latents": [], "input_image_sizes": {},
                                           "attention_mask": torch.ones(2, 65, 65).cuda(),
                                           "position_ids": torch.arange(65)[None].expand(2, -1).cuda()}),
    "CogVideoXTransformer3DModel": ({**HEADS, "in_channels": 4, "out_channels": 4, "time_embed_dim": 16, "text_embed_dim": 32,
                                     "sample_width": 16, "sample_height": 16, "sample_frames": 9, "max_text_seq_length": 8},
                                    lambda: {"hidden_states": random(1, 3, 4, 16, 16), "encoder_hidden_states": random(1, 8, 32),
                                             "timestep": torch.tensor([5]).cuda()}),
    "LatteTransformer3DModel": ({**HEADS, "in_channels": 4, "out_channels": 8, "cross_attention_dim": 64, "sample_size": 16,
                                 "patch_size": 2, "attention_bias": True, "activation_fn": "gelu-approximate",
                                 "num_embeds_ada_norm": 1000, "norm_type": "ada_norm_single", "caption_channels": 32,
                                 "norm_elementwise_affine": False, "video_length": 2},
                                lambda: {**video(4, 2, 16, "hidden_states"), "timestep": torch.tensor([5]).cuda(),
                                         "encoder_hidden_states": random(1, 8, 32)}),
    "AllegroTransformer3DModel": ({"num_attention_heads": 2, "attention_head_dim": 24, "in_channels": 4, "out_channels": 4,
                                   "num_layers": 2, "cross_attention_dim": 48, "sample_width": 16, "sample_height": 16,
                                   "sample_frames": 4, "caption_channels": 32, "norm_elementwise_affine": False},
                                  lambda: {**video(4, 2, 16, "hidden_states"), "encoder_hidden_states": random(1, 8, 32),
                                           "timestep": torch.tensor([5]).cuda(), "image_rotary_emb": None}),
    "LTXVideoTransformer3DModel": ({**HEADS, "in_channels": 8, "out_channels": 8, "cross_attention_dim": 64,
                                    "caption_channels": 32},
                                   lambda: {"hidden_states": random(2, 64, 8), **text(32), **steps(), **mask(),
                                            "num_frames": 4, "height": 4, "width": 4}),
    "MochiTransformer3DModel": ({**HEADS, "pooled_projection_dim": 32, "in_channels": 4, "text_embed_dim": 32,
                                 "time_embed_dim": 8, "max_sequence_length": 8},
                                lambda: {"hidden_states": random(2, 4, 2, 16, 16), **text(32), **steps(), **mask()}),
    "HunyuanVideoTransformer3DModel": ({**HEADS, "in_channels": 4, "out_channels": 4, "num_single_layers": 1,
                                        "num_refiner_layers": 1, "text_embed_dim": 32, "pooled_projection_dim": 32,
                                        "rope_axes_dim": (4, 6, 6)},
                                       lambda: {**video(4, 2, 16, "hidden_states"), "timestep": torch.tensor([5]).cuda(),
                                                "encoder_hidden_states": random(1, 8, 32), "guidance": torch.ones(1).cuda(),
                                                "encoder_attention_mask": torch.ones(1, 8).cuda(),
                                                "pooled_projections": random(1, 32)}),
    "WanTransformer3DModel": ({**HEADS, "in_channels": 4, "out_channels": 4, "text_dim": 32, "freq_dim": 32, "ffn_dim": 64},
                              lambda: {"hidden_states": random(2, 4, 2, 16, 16), **steps(), **text(32)}),
    "CosmosTransformer3DModel": ({**HEADS, "in_channels": 4, "out_channels": 4, "text_embed_dim": 32, "adaln_lora_dim": 4,
                                  "max_size": (4, 32, 32)},
                                 lambda: {**video(4, 2, 16, "hidden_states"), "timestep": torch.tensor([5]).cuda(),
                                          "encoder_hidden_states": random(1, 8, 32), "fps": 30,
                                          "padding_mask": torch.zeros(1, 1, 16, 16).cuda()}),
    "QwenImageTransformer2DModel": ({**HEADS, "in_channels": 16, "out_channels": 4, "joint_attention_dim": 32,
                                     "axes_dims_rope": (4, 6, 6)},
                                    lambda: {"hidden_states": random(2, 16, 16), **text(32), "timestep": torch.rand(2).cuda(),
                                             "encoder_hidden_states_mask": torch.ones(2, 8, dtype=torch.int64).cuda(),
                                             "img_shapes": [[(1, 4, 4)]] * 2}),
    "StableAudioDiTModel": ({**HEADS, "sample_size": 16, "in_channels": 4, "out_channels": 4, "num_key_value_attention_heads": 2,
                             "cross_attention_dim": 32, "cross_attention_input_dim": 32, "global_states_input_dim": 32,
                             "time_proj_dim": 16},
                            lambda: {"hidden_states": random(2, 4, 16), "timestep": torch.rand(2).cuda(), **text(32),
                                     "global_hidden_states": random(2, 1, 32),
                                     "rotary_embedding": (random(17, 8), random(17, 8))}),
    "ControlNetModel": ({**CROSS, "conditioning_embedding_out_channels": (16, 32)},
                        lambda: {**image(4, 16), **steps(), **text(32), "controlnet_cond": random(2, 3, 32, 32)}),
    "SD3ControlNetModel": ({**HEADS, "sample_size": 16, "in_channels": 4, "out_channels": 4, "joint_attention_dim": 32,
                            "caption_projection_dim": 64, "pooled_projection_dim": 64, "pos_embed_max_size": 96},
                           lambda: {**latents(), **text(32), "pooled_projections": random(2, 64), **steps(),
                                    "controlnet_cond": random(2, 4, 16, 16)}),
    "FluxControlNetModel": ({**FLUX, "pooled_projection_dim": 32, "axes_dims_rope": [4, 6, 6]},
                            lambda: flux_inputs(pooled_projections=random(2, 32), controlnet_cond=random(2, 64, 16))),
    "T2IAdapter": ({"channels": [32, 64], "num_res_blocks": 1}, lambda: {"x": random(2, 3, 64, 64)}),
}


def sizes():
    return {name: torch.tensor([[16, 16]] * 2).cuda() for name in ("original_size", "target_size", "crop_coords")}


def outputs_of(out):
    """Every tensor in what a model gives."""
    if isinstance(out, torch.Tensor):
        return [out]
    if isinstance(out, dict):
        out = list(out.values())
    return [each for part in out for each in outputs_of(part)] if isinstance(out, (list, tuple)) else []


# Schedulers of images; the others need what their own pipelines compute.
SCHEDULERS = """DDIMScheduler DDIMParallelScheduler DDPMScheduler DDPMParallelScheduler DEISMultistepScheduler
    DPMSolverMultistepScheduler DPMSolverSinglestepScheduler EDMDPMSolverMultistepScheduler EDMEulerScheduler
    EulerAncestralDiscreteScheduler EulerDiscreteScheduler FlowMatchEulerDiscreteScheduler FlowMatchHeunDiscreteScheduler
    FlowMatchLCMScheduler HeunDiscreteScheduler IPNDMScheduler KDPM2AncestralDiscreteScheduler KDPM2DiscreteScheduler LCMScheduler
    LMSDiscreteScheduler PNDMScheduler SASolverScheduler TCDScheduler UniPCMultistepScheduler CMStochasticIterativeScheduler
    DDIMInverseScheduler DPMSolverMultistepInverseScheduler CogVideoXDDIMScheduler UnCLIPScheduler
    CosineDPMSolverMultistepScheduler""".split()


if len(sys.argv) == 1:
    print("\n".join([*MODELS, *SCHEDULERS]))
    sys.exit()
if sys.argv[2:] == ["imported"]:
    sys.exit()
name = sys.argv[1]
if name in MODELS:
    arguments, inputs = MODELS[name]
    model = (getattr(diffusers, name, None) or getattr(models, name))(**arguments).cuda()
    if sys.argv[2:] == ["constructed"]:
        sys.exit()
    model.train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    loss = sum(each.float().square().mean() for each in outputs_of(model(**inputs())))
    loss.backward()
    optimizer.step()
else:
    scheduler = getattr(schedulers, name)()
    if sys.argv[2:] == ["constructed"]:
        sys.exit()
    clean, noise = random(2, 3, 16, 16), random(2, 3, 16, 16)
    scheduler.set_timesteps(4, **({"device": "cuda"} if "device" in inspect.signature(scheduler.set_timesteps).parameters else {}))
    if hasattr(scheduler, "add_noise"):
        clean = scheduler.add_noise(clean, noise, scheduler.timesteps[:1].expand(2).to("cuda"))
    for timestep in scheduler.timesteps:
        if hasattr(scheduler, "scale_model_input"):
            scheduler.scale_model_input(clean, timestep)
        clean = scheduler.step(noise, timestep, clean)[0]
