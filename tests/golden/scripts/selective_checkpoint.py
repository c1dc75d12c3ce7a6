"""Selective checkpointing of blocks whose linear layers read what is not contiguous, nn.MultiheadAttention among them."""
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint, create_selective_checkpoint_contexts

aten = torch.ops.aten


def contexts():
    return create_selective_checkpoint_contexts([aten.mm.default, aten.addmm.default, aten.bmm.default])


class Block(nn.Module):
    def __init__(self, width=128):
        super().__init__()
        self.attention = nn.MultiheadAttention(width, 4, batch_first=True)
        self.mix = nn.Linear(100, 100)
        self.norm = nn.LayerNorm(width)

    def forward(self, x):
        h, _ = self.attention(x, x, x, need_weights=False)
        x = x + self.mix(x.transpose(1, 2)).transpose(1, 2)
        return self.norm(x + h)


blocks = nn.ModuleList(Block() for _ in range(3)).cuda()
optimizer = torch.optim.SGD(blocks.parameters(), lr=0.1)
for _ in range(2):
    x = torch.randn(8, 100, 128, device="cuda")
    for block in blocks:
        x = checkpoint(block, x, use_reentrant=False, context_fn=contexts)
    x.square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
