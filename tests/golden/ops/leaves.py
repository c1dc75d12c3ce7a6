# Leaves are made before the recording starts.
from torch.utils.checkpoint import checkpoint


def T(*shape, dt=torch.float32, grad=True, cl=False):
    t = torch.zeros(tuple(shape), device="cuda", dtype=dt)
    if cl:
        t = t.contiguous(memory_format=torch.channels_last)
    return t.requires_grad_(grad)


def I(*shape):
    return torch.zeros(*shape, device="cuda", dtype=torch.long)


def block():
    return nn.Sequential(nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU())


def save_on_cpu(torch, m, x):
    with torch.autograd.graph.save_on_cpu():
        return m(x)
