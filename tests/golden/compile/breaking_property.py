"""A property that breaks: the rest of the function runs as it stands."""
import logging, torch, torch.nn as nn, torch.nn.functional as F
log = logging.getLogger("m")
class Net(nn.Module):
    def __init__(self):
        super().__init__(); self.e = nn.Embedding(300, 192); self.l = nn.Linear(192, 192); self.o = nn.Linear(192, 300)
    @property
    def criterion(self):
        log.warning("default loss")
        return F.cross_entropy
    def forward(self, t, y):
        h = self.e(t)
        h = h + F.gelu(self.l(h))
        logits = self.o(h)
        loss = None
        if y is not None:
            loss = self.criterion(logits.view(-1, 300), y.view(-1))
        return loss, logits
net = Net().cuda(); f = torch.compile(net); opt = torch.optim.AdamW(net.parameters())
for _ in range(3):
    t = torch.randint(0, 300, (16, 64), device="cuda")
    loss, _ = f(t, t); loss.backward(); opt.step(); opt.zero_grad()
