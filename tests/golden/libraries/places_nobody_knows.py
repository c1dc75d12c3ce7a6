"""Where a tensor is turned or cut hangs on values: nothing that it takes does."""
import torch

x = torch.randn(4, 6, 8, device="cuda", requires_grad=True)
lags = x.detach().mean((0, 1)).topk(2).indices
for i in range(2):
    k = int(lags[i])
    y = x.roll(shifts=-k, dims=1) + torch.roll(x, (k, 1), (0, 2))
    z = torch.triu(y, diagonal=k - 2) + y.tril(k)
    part = z.narrow(1, lags[i].item() // 8, 3) * 2
    row = torch.select(z, 2, k // 8) * 3
    (part.sum() + row.sum() + torch.select_scatter(z, row, 2, k // 8).mean()).backward()
