"""A GPT with drops under bf16 autocast"""
import torch, torch.nn.functional as F
from torch.utils.checkpoint import checkpoint
from nets import GPT
class Net(GPT):
    def forward(self, tokens):
        x = self.drop(self.wte(tokens) + self.wpe(torch.arange(tokens.shape[1], device=tokens.device)))
        for block in self.blocks:
            x = block(x)
        return self.head(self.ln_f(x))
model = Net(vocab=3000, width=256, heads=4, layers=1, dropout=0.1, tied=False).cuda()
compiled = torch.compile(model)
opt = torch.optim.AdamW(model.parameters(), lr=3e-4)
for _ in range(3):
    x = torch.randint(0, 3000, (4, 128), device="cuda")
    with torch.autocast("cuda", dtype=torch.bfloat16, enabled=True):
        loss = F.cross_entropy(compiled(x).flatten(0, 1), x.flatten())
    loss.backward()
    opt.step()
    opt.zero_grad()
