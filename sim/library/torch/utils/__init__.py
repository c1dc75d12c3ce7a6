"""Folder of torch.utils.checkpoint, torch.utils.data and torch.utils.tensorboard."""
