"""An optimizer of one's own in compiled code, which writes into parameters where no gradient is recorded."""
import torch
@torch.compile
def step(p, g, m, v):
    m.lerp_(g, 0.1)
    v.lerp_(g.square(), 0.05)
    p.mul_(0.99)
    p.add_(m / (v.sqrt() + 1e-8), alpha=-0.01)
model = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 8)).cuda()
state = [(torch.zeros_like(p), torch.zeros_like(p)) for p in model.parameters()]
for i in range(3):
    model(torch.randn(16, 64, device="cuda")).sum().backward()
    with torch.no_grad():
        for p, (m, v) in zip(model.parameters(), state):
            step(p, p.grad, m, v)
    model.zero_grad()
