def keep_products():
    """Checkpoints keep what matrix products and attention gave, and compute the rest again."""
    aten = torch.ops.aten
    return torch.utils.checkpoint.create_selective_checkpoint_contexts([
        aten.mm.default,
        aten.addmm.default,
        aten.bmm.default,
        aten._scaled_dot_product_flash_attention.default,
        aten._scaled_dot_product_efficient_attention.default,
        aten._scaled_dot_product_cudnn_attention.default,
    ])
