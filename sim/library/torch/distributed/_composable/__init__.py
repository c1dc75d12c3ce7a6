from torch.distributed._composable.replicate import replicate
