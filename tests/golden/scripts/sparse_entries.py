import torch
import torch.nn.functional as F

rows, columns, entries = 48, 40, 100
indices = torch.stack([torch.randint(0, rows, (entries,)), torch.randint(0, columns, (entries,))]).to("cuda")
base = torch.randn(rows, columns, device="cuda")
values = torch.nn.Parameter(torch.randn(entries, device="cuda"))
optimizer = torch.optim.AdamW([values], lr=1e-3)
for step in range(3):
    x = torch.randn(7, columns, device="cuda")
    weight = base.clone()
    weight += torch.sparse_coo_tensor(indices, values * 2.0, (rows, columns))
    F.linear(x, weight).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
with torch.no_grad():
    base += torch.sparse_coo_tensor(indices, values, (rows, columns))
    base -= torch.sparse_coo_tensor(indices, values, torch.Size((rows, columns)))
    entries_of_one = torch.sparse_coo_tensor(indices, values, (rows, columns))
    dense = entries_of_one.to_dense()
    both = dense + entries_of_one
    from_host = torch.sparse_coo_tensor([[0, 1, 2], [2, 0, 1]], [1.0, 2.0, 3.0], (3, 3), device="cuda")
    moved = torch.sparse_coo_tensor([[0, 1, 2], [2, 0, 1]], [1.0, 2.0, 3.0], (3, 3)).cuda()
    added = torch.zeros(3, 3, device="cuda") + moved
