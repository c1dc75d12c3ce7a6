"""GPT blocks with drops, each checkpointed, by inductor"""
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


model = Net(vocab=3000, width=256, heads=4, layers=3, dropout=0.1).cuda()
compiled = torch.compile(model)
opt = torch.optim.AdamW(model.parameters(), lr=3e-4)
for _ in range(3):
    x = torch.randint(0, 3000, (4, 512), device="cuda")
    loss = F.cross_entropy(compiled(x).flatten(0, 1), x.flatten())
    loss.backward()
    opt.step()
    opt.zero_grad()
