"""Checkpointed blocks with drops by aot_eager: what attention gives goes from the end of its tuple"""

import torch, torch.nn.functional as F
from torch.utils.checkpoint import checkpoint
from nets import GPT
class Net(GPT):
    def forward(self, t):
        x = self.drop(self.wte(t) + self.wpe.weight[: t.shape[1]])
        for b in self.blocks: x = checkpoint(b, x, use_reentrant=False)
        return F.linear(self.ln_f(x), self.wte.weight)
m = Net(vocab=1800, layers=3, width=256, heads=4, dropout=0.1).cuda()
f = torch.compile(m, backend="aot_eager")
opt = torch.optim.AdamW(m.parameters(), lr=3e-4)
for n in (160, 160, 160):
    x = torch.randint(0, 1800, (8, n), device="cuda")
    with torch.autocast("cuda", dtype=torch.bfloat16): loss = F.cross_entropy(f(x).flatten(0, 1), x.flatten())
    loss.backward(); opt.step(); opt.zero_grad()
