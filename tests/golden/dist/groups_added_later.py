"""ZeRO with one tensor for each rank's parameters, to which a group is added; and what a call's arguments let go of when hooks have replaced them."""
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.optim import ZeroRedundancyOptimizer

dist.init_process_group("nccl")
torch.cuda.set_device(dist.get_rank() % torch.cuda.device_count())
net, extra = nn.Sequential(nn.Linear(300, 700), nn.ReLU(), nn.Linear(700, 50)).cuda(), nn.Linear(50, 50).cuda()
groups = [{"params": [p for p in net.parameters() if (p.ndim > 1) == is_wide], "weight_decay": 0.1 * is_wide} for is_wide in (True, False)]
optimizer = ZeroRedundancyOptimizer(groups, torch.optim.AdamW, parameters_as_bucket_view=True, lr=1e-3, capturable=True)
x = torch.randn(16, 300, device="cuda")
for step in range(3):
    extra(net(x)).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
    if step == 0:
        optimizer.add_param_group({"params": list(extra.parameters())})
    if step == 1:
        net[0].weight.requires_grad_(False)


class Sum(nn.Module):
    def forward(self, a, b, c):
        return a * 2


def three():
    return [torch.empty(256 * k, device="cuda") for k in (1, 2, 3)]


with torch.no_grad():
    for with_kwargs in (False, True):
        one = Sum()
        for _ in range(2):
            one.register_forward_pre_hook(
                (lambda m, args, kwargs: (tuple(a + 1 for a in args), kwargs)) if with_kwargs else (lambda m, args: tuple(a + 1 for a in args)),
                with_kwargs=with_kwargs,
            )
        one(*three())
        one.register_forward_hook(lambda m, args, out: None)
        one(*three())
dist.destroy_process_group()
