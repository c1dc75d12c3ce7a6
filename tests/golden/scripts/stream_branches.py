"""Two branches on two streams; their gradients meet again in backward, each on the stream of its forward."""
import torch
from torch import nn

a = nn.Sequential(nn.Linear(600, 1200), nn.ReLU(), nn.Linear(1200, 600)).cuda()
b = nn.Sequential(nn.Linear(600, 900), nn.Tanh(), nn.Linear(900, 600)).cuda()
stem = nn.Linear(600, 600).cuda()
head = nn.Linear(600, 10).cuda()
opt = torch.optim.Adam([p for m in (a, b, stem, head) for p in m.parameters()])
side = torch.cuda.Stream()
for n in (128, 96, 128):
    x = torch.randn(n, 600, device="cuda")
    y = torch.zeros(n, dtype=torch.long, device="cuda")
    h = stem(x)
    main = torch.cuda.current_stream()
    side.wait_stream(main)
    with torch.cuda.stream(side):
        right = b(h)
    h.record_stream(side)
    left = a(h)
    main.wait_stream(side)
    right.record_stream(main)
    out = head(left + right)
    loss = nn.functional.cross_entropy(out, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(float(loss))
with torch.cuda.stream(side):
    z = torch.ones(1000, 1000, device="cuda", requires_grad=True)
    w = (z * 2).relu()
t = w.sum()
t.backward()
del w, t
print(torch.cuda.memory_allocated())
