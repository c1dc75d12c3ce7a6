"""Ring attention that is recomputed: what nobody keeps of its results and operands goes at once."""
import os

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor.experimental import context_parallel
from torch.utils.checkpoint import checkpoint


class Layer(nn.Module):
    def __init__(self, width=128):
        super().__init__()
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        b, t, width = x.shape
        q, k, v = (y.view(b, t, -1, 32).transpose(1, 2) for y in self.qkv(x).chunk(3, dim=-1))
        y = F.scaled_dot_product_attention(q * 2, k * 2, v, is_causal=True)
        return x + self.out(y.transpose(1, 2).reshape(b, t, width))


dist.init_process_group("nccl")
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
mesh = init_device_mesh("cuda", (dist.get_world_size(),))
layers = nn.ModuleList([Layer(), Layer()]).cuda().bfloat16()
for _ in range(2):
    x = torch.randn(2, 256, 128, device="cuda", dtype=torch.bfloat16)
    with context_parallel(mesh, buffers=[x], buffer_seq_dims=[1], no_restore_buffers={x}):
        y = x.clone().requires_grad_()
        for layer in layers:
            y = checkpoint(layer, y, use_reentrant=False)
        y.square().mean().backward()
    with torch.no_grad():
        with context_parallel(mesh, buffers=[x], buffer_seq_dims=[1]):
            layers[0](x)
dist.destroy_process_group()
