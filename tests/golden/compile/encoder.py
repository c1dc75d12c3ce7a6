"""torch's own encoder layers and a pooler of which one half is unused, compiled by aot_eager; evaluation between the steps."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(800, 128, padding_idx=0)
        self.layers = nn.ModuleList(nn.TransformerEncoderLayer(128, 4, 256, dropout=0.1, activation="gelu", batch_first=True) for _ in range(2))
        self.pooler, self.unused = nn.Linear(128, 128), nn.Linear(128, 128)
        self.classify = nn.Linear(128, 7)

    def forward(self, tokens):
        x = self.embed(tokens)
        for layer in self.layers:
            x = layer(x)
        return {"logits": self.classify(torch.tanh(self.pooler(x[:, 0]))), "hidden": x}


model = Encoder().cuda()
compiled = torch.compile(model, backend="aot_eager")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    tokens, y = torch.randint(1, 800, (16, 64), device="cuda"), torch.randint(0, 7, (16,), device="cuda")
    out = compiled(tokens)
    loss = F.cross_entropy(out["logits"], y) + out["hidden"].abs().mean() * 1e-3
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    del out, loss
