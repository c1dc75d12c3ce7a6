"""Every schedule of learning rates, step by step."""

import torch
import math
from torch import nn
from torch.optim import lr_scheduler as S
from torch.optim.swa_utils import SWALR


def fresh(adam=False, groups=False):
    m = nn.Linear(3, 4).cuda()
    params = [{"params": [m.weight]}, {"params": [m.bias], "lr": 0.03}] if groups else m.parameters()
    return torch.optim.AdamW(params, lr=0.1) if adam else torch.optim.SGD(params, lr=0.1, momentum=0.9)


class Warm:
    def __init__(self, n):
        self.n = n

    def __call__(self, epoch):
        return min(1.0, (epoch + 1) / self.n)


class Own(S._LRScheduler):
    def __init__(self, optimizer, warm, last_epoch=-1):
        self.warm = warm
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        if self.last_epoch < self.warm:
            return [b * (self.last_epoch + 1) / self.warm for b in self.base_lrs]
        return [b * 0.5 * (1 + math.cos(math.pi * self.last_epoch / 20)) for b in self.base_lrs]


made = {
    "lambda": lambda o: S.LambdaLR(o, Warm(4)),
    "lambda2": lambda o: S.LambdaLR(o, lambda e: 0.95**e),
    "mult": lambda o: S.MultiplicativeLR(o, lambda e: 0.95),
    "step": lambda o: S.StepLR(o, 3, gamma=0.5),
    "multi": lambda o: S.MultiStepLR(o, [2, 4, 4, 9], gamma=0.1),
    "const": lambda o: S.ConstantLR(o, 0.3, 4),
    "linear": lambda o: S.LinearLR(o, 0.1, 1.0, 5),
    "exp": lambda o: S.ExponentialLR(o, 0.9),
    "poly": lambda o: S.PolynomialLR(o, 8, 2.0),
    "cos": lambda o: S.CosineAnnealingLR(o, T_max=5, eta_min=1e-4),
    "warm": lambda o: S.CosineAnnealingWarmRestarts(o, 3, 2, 1e-5),
    "one": lambda o: S.OneCycleLR(o, max_lr=0.5, total_steps=13),
    "one3": lambda o: S.OneCycleLR(o, max_lr=0.5, epochs=3, steps_per_epoch=5, three_phase=True, anneal_strategy="linear"),
    "one0": lambda o: S.OneCycleLR(o, 0.5, 20, cycle_momentum=False, pct_start=0.25, div_factor=10),
    "cyc": lambda o: S.CyclicLR(o, 0.01, 0.2, 3, 4),
    "cyc2": lambda o: S.CyclicLR(o, 0.01, 0.2, 3, mode="triangular2"),
    "cyce": lambda o: S.CyclicLR(o, 0.01, 0.2, 3, mode="exp_range", gamma=0.9, cycle_momentum=False),
    "cycf": lambda o: S.CyclicLR(o, 0.01, 0.2, 3, scale_fn=lambda x: 1 / (5 ** (x * 0.0001)), scale_mode="iterations"),
    "seq": lambda o: S.SequentialLR(o, [S.LinearLR(o, 0.1, total_iters=3), S.CosineAnnealingLR(o, 8)], [3]),
    "seq3": lambda o: S.SequentialLR(o, [S.ConstantLR(o, 0.1, 2), S.ExponentialLR(o, 0.9), S.StepLR(o, 2)], milestones=[2, 6]),
    "chain": lambda o: S.ChainedScheduler([S.ConstantLR(o, 0.1, 2), S.ExponentialLR(o, 0.9)]),
    "own": lambda o: Own(o, 3),
    "swa": lambda o: SWALR(o, swa_lr=0.05, anneal_epochs=4),
    "swal": lambda o: SWALR(o, swa_lr=0.05, anneal_epochs=0, anneal_strategy="linear"),
}
for name, make in made.items():
    for adam in (False, True):
        o = fresh(adam, name in ("lambda", "one", "cyc", "seq", "cos"))
        s = make(o)
        out = [s.get_last_lr()]
        for _ in range(11):
            o.step()
            s.step()
            out.append(s.get_last_lr())
        g = o.param_groups[0]
        print(name, adam, [r for r in out], g["lr"], g["initial_lr"], g.get("momentum"), g.get("betas"), getattr(s, "last_epoch", None))
        print({k: v for k, v in sorted(s.state_dict().items()) if k in ("last_epoch", "_step_count", "_last_lr", "base_lrs", "gamma", "lr_lambdas", "milestones")})
        t = make(fresh(adam, name in ("lambda", "one", "cyc", "seq", "cos")))
        t.load_state_dict(s.state_dict())
        t.step()
        print(t.get_last_lr(), getattr(t, "last_epoch", None))
o = fresh()
p = S.ReduceLROnPlateau(o, mode="max", factor=0.5, patience=1, threshold=0.01, cooldown=1, min_lr=0.01)
for v in [0.1, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 0.5, 0.1, 0.1, 0.1]:
    p.step(v)
    print(v, p.get_last_lr(), p.num_bad_epochs, p.in_cooldown, p.best)
o = fresh()
p = S.ReduceLROnPlateau(o, patience=2)
for e in range(5):
    p.step(1.0 / (e + 1))
s = S.StepLR(fresh(), 2)
s.step(5)
print(s.get_last_lr(), S.CosineAnnealingLR(fresh(), 5).get_last_lr())
for bad in (lambda: S.StepLR(nn.Linear(1, 1), 2), lambda: S.OneCycleLR(fresh(), 0.1), lambda: S.SequentialLR(fresh(), [], []), lambda: S.ChainedScheduler([p]), lambda: S.LinearLR(fresh(), 0), lambda: S.StepLR(fresh(), 2, last_epoch=3), lambda: S.CyclicLR(torch.optim.Adagrad(nn.Linear(1, 1).parameters()), 0.1, 0.2)):
    try:
        bad()
        print("no")
    except (ValueError, TypeError) as e:
        print(type(e).__name__, e)
    except KeyError as e:
        print("KeyError")
m = nn.Linear(3, 4).cuda()
o = torch.optim.Adam(m.parameters(), lr=torch.tensor(0.1), foreach=False, capturable=False)
s = S.SequentialLR(o, [S.LinearLR(o, 0.1, total_iters=3), S.CosineAnnealingLR(o, 8)], [3])
for _ in range(4):
    m(torch.randn(2, 3, device="cuda")).sum().backward()
    o.step()
    s.step()
    x = s.get_last_lr()
