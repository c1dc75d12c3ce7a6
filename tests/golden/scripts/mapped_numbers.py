"""Masks of attention by torch.vmap over single numbers; products that one side settles; slices whose bound nobody knows."""
import torch


def both(*rules):
    def rule(b, h, q, k):
        out = q.new_ones((), dtype=torch.bool)
        for each in rules:
            out = out & each(b, h, q, k).to(out.device)
        return out

    return rule


def either(*rules):
    def rule(b, h, q, k):
        out = k.new_zeros((), dtype=torch.bool)
        for each in rules:
            out = out | each(b, h, q, k)
        return out

    return rule


def mapped(rule):
    for dims in [(None, None, None, 0), (None, None, 0, None), (None, 0, None, None), (0, None, None, None)]:
        rule = torch.vmap(rule, in_dims=dims, out_dims=0)
    return rule


groups = torch.tensor([[0, 0, 1, 1, 2, 2] * 4, [0, 1] * 12], device="cuda")
starts = torch.tensor([2, 0], device="cuda")
batch, heads, queries, keys = (torch.arange(n, device="cuda") for n in (2, 1, 12, 24))
causal = lambda b, h, q, k: k <= q
window = lambda b, h, q, k: k > q - 4
same = lambda b, h, q, k: groups[b, q] == groups[b, k]
chunks = lambda b, h, q, k: (k - starts[b]) // 3 == (q - starts[b]) // 3
x = torch.randn(2, 4, 24, 16, device="cuda", requires_grad=True)
for rule in (causal, both(window, causal), either(both(causal, window), same), both(chunks, causal)):
    mask = mapped(rule)(batch, heads, queries, keys)
    print(tuple(mask.shape), mask.is_contiguous())
    torch.nn.functional.scaled_dot_product_attention(x[:, :, :12], x, x, attn_mask=mask).sum().backward()
print(torch.vmap(lambda a, b: a * 2 + b)(torch.arange(5.0, device="cuda"), torch.ones(5, device="cuda")).shape)

tokens = torch.randint(5, 100, (2, 9), device="cuda")
none = torch.isin(tokens, torch.tensor(0, device="cuda")).any()
mask = (tokens != 0).long() * none + torch.ones_like(tokens) * ~none
hidden = (tokens > 50) & torch.zeros(9, dtype=torch.bool, device="cuda")
shown = (tokens > 50) | torch.ones((), dtype=torch.bool, device="cuda")
kept = torch.zeros(1000, device="cuda") if hidden.any() else torch.zeros(2000, device="cuda")

length = x.detach().argmax(-1).max()
print(len(x[:, :, :length].shape), torch.cuda.max_memory_allocated() > 0)
