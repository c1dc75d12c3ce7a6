"""A model made on the host and moved, batches made there too."""
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(1000, 64)
        self.mix = nn.TransformerEncoderLayer(64, 4, 128, batch_first=True)
        self.convolution = nn.Conv1d(64, 32, 3, padding=1)
        self.norm = nn.BatchNorm1d(32)
        self.head = nn.Linear(32, 10)
        self.register_buffer("places", torch.arange(50))

    def forward(self, x):
        x = self.mix(self.words(x))
        x = self.norm(self.convolution(x.transpose(1, 2)))
        return self.head(x.mean(2))


torch.manual_seed(0)
model = Net()
model = model.to("cuda")
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(2):
    x = torch.randint(0, 1000, (16, 50)).to("cuda")
    y = torch.randint(0, 10, (16,)).to("cuda")
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    loss.item()
weights = {name: value.cpu() for name, value in model.state_dict().items()}
del weights
half = Net().half().cuda()
shapes = nn.Linear(300, 300, device="meta")
print(shapes.weight.device, shapes.weight.device == torch.device("meta"), shapes.weight.device == torch.device("cpu"))
shapes = shapes.to_empty(device="cuda")
