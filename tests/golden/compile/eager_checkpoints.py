"""GPT blocks, each checkpointed, traced by AOTAutograd and run by eager operators"""
import torch
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint

from nets import GPT


class Net(GPT):
    def forward(self, tokens):
        x = self.drop(self.wte(tokens) + self.wpe(torch.arange(tokens.shape[1], device=tokens.device)))
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False)
        return self.head(self.ln_f(x))


model = Net(layers=2, dropout=0.0).cuda()
compiled = torch.compile(model, backend="aot_eager")
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
for _ in range(4):
    x = torch.randint(0, 3000, (8, 256), device="cuda")
    loss = F.cross_entropy(compiled(x).flatten(0, 1), x.flatten())
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
