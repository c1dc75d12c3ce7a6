"""A compiled function that computes the loss, called with what an eager layer gives."""
import torch
import torch.nn as nn
import torch.nn.functional as F

embed, mixer, head = nn.Embedding(1000, 256).cuda(), nn.Linear(256, 256).cuda(), nn.Linear(256, 1000).cuda()
norm = nn.LayerNorm(256).cuda()


@torch.compile(backend="aot_eager")
def loss_of(x, tokens):
    gate, value = mixer(norm(x)).chunk(2, dim=-1)
    h = torch.cat([F.silu(gate) * value, value.exp().clamp(max=2.0)], dim=-1)
    logits = head(h + x)
    loss = F.cross_entropy(logits.view(-1, 1000), tokens.view(-1))
    return loss, (logits.float() ** 2).mean(-1)


parameters = [p for m in (embed, mixer, head, norm) for p in m.parameters()]
optimizer = torch.optim.Adam(parameters, lr=1e-3)
for step in range(3):
    tokens = torch.randint(0, 1000, (16, 128), device="cuda")
    loss, spread = loss_of(embed(tokens), tokens)
    (loss + 1e-4 * spread.mean()).backward()
    optimizer.step()
    optimizer.zero_grad()
