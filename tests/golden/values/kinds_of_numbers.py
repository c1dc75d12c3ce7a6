# One sequence of draws of every type, count and layout: 16 and more are drawn in another order than fewer.
import torch

torch.manual_seed(77)
for count in (1, 7, 15, 16, 17, 31, 32, 33, 100):
    print(count, torch.randn(count).sum().item() > 0, torch.rand(count)[-1].item(), torch.randn(count)[-1].gt(0).item(),
          torch.randn(count, dtype=torch.float64)[0].lt(0).item(), torch.empty(count).normal_(5, 2)[-1].gt(5).item())
for kind in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
    print(kind, torch.rand(5, dtype=kind).tolist(), torch.randn(3, dtype=kind).gt(0).tolist(), torch.randn(20, dtype=kind).gt(0).sum().item(),
          torch.empty(4, dtype=kind).uniform_(1, 3).tolist(), torch.randint(0, 50, (4,), dtype=kind).tolist())
for kind in (torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64, torch.bool):
    print(kind, torch.randint(0, 2 if kind == torch.bool else 100, (6,), dtype=kind).tolist(), torch.empty(3, dtype=kind).random_().tolist())
print(torch.randint(-3, 4, (8,)).tolist(), torch.randint(2**31, 2**33, (3,)).tolist(), torch.randint(0, 2**62, (2,)).tolist())
print(torch.randint(0, 2**32, (2,)).tolist(), torch.randint(0, 2**32 - 1, (2,)).tolist())
turned = torch.empty(5, 4).t()
print(turned.uniform_().tolist(), turned.normal_().gt(0).tolist())
part = torch.zeros(6, 6)
part[1:4, ::2].uniform_(2, 3)
part[5].normal_()
part[:, 5] = torch.rand(6)
print(part.gt(0).tolist(), part[1:4, ::2].tolist())
for shape in ((), (0,), (2, 0, 3), (1, 1), (2, 3, 4)):
    print(shape, torch.rand(shape).sum().item() > 0.4, torch.randn(shape).gt(0).sum().item(), torch.randint(10, shape).sum().item())
print(torch.rand(3, 1).squeeze(1).tolist(), torch.randperm(6, dtype=torch.int32).tolist())
for count in (2, 20, 1000):
    print(torch.randperm(count)[:8].tolist(), torch.randperm(count, dtype=torch.int16).argmin().item())
print(torch.rand(2, 3, requires_grad=True).tolist(), torch.rand_like(torch.zeros(3, dtype=torch.float64)).tolist())
print(torch.rand(1).item())
many = torch.rand(2**20 + 3)
print(many[-3:].tolist(), many.argmin().item(), (many > 0.5).sum().item(), torch.randn(2**20 + 5).gt(0).sum().item(), torch.rand(1).item())
