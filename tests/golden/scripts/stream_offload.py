"""Activations and optimizer state that live in host memory between their uses."""
import torch
from torch import nn

model = nn.Sequential(*[nn.Sequential(nn.Linear(512, 512), nn.GELU()) for _ in range(4)], nn.Linear(512, 8)).cuda()
offload, upload = torch.cuda.Stream(), torch.cuda.Stream()
state = {p: torch.zeros(p.shape, pin_memory=True) for p in model.parameters()}
done = torch.cuda.Event()
for step in range(3):
    x = torch.randn(256, 512, pin_memory=True).to("cuda", non_blocking=True)
    with torch.autograd.graph.save_on_cpu(pin_memory=True):
        loss = model(x).square().mean()
    loss.backward()
    done.record()
    for p, host in state.items():
        with torch.cuda.stream(upload):
            done.wait()
            momentum = host.to("cuda", non_blocking=True)
        torch.cuda.current_stream().wait_stream(upload)
        momentum.record_stream(torch.cuda.current_stream())
        with torch.no_grad():
            momentum.mul_(0.9).add_(p.grad)
            p.add_(momentum, alpha=-0.1)
        offload.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(offload):
            host.copy_(momentum, non_blocking=True)
        momentum.record_stream(offload)
        p.grad = None
    offload.synchronize()
kept = [p.detach().to("cpu", non_blocking=True) for p in model.parameters()]
end = torch.cuda.Event()
end.record(offload)
end.synchronize()
print(kept[0].is_pinned(), torch.cuda.memory_allocated(), torch.cuda.memory_reserved())
h = torch.cuda.host_memory_stats()
print(h["allocated_bytes.current"], h["allocated_bytes.peak"], h["num_host_alloc"])
del kept, state, host
torch._C._host_emptyCache()
h = torch.cuda.host_memory_stats()
print(h["num_host_free"] > 0)
