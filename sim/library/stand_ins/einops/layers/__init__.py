"""Folder of einops.layers.torch."""
