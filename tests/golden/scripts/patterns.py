"""einops: what becomes of patterns, with gradients, and models written with it."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from einops import einsum, pack, parse_shape, rearrange, reduce, repeat, unpack
from einops.layers.torch import Rearrange, Reduce


def show(x):
    print(tuple(x.shape), tuple(x.stride()))
    return x


x = torch.randn(2, 6, 8, 10, device="cuda", requires_grad=True)
for pattern, sizes in (("b c h w -> b c h w", {}), ("b c h w -> b (c h w)", {}), ("b c h w -> b h w c", {}), ("b c (h p) (w q) -> b (h w) (p q c)", dict(p=2, q=5)),
                       ("b (n d) ... -> b n ... d", dict(n=3)), ("... h w -> (...) (h w)", {}), ("b c h w -> (b c) 1 h w", {}), ("b c h w -> b c () h w", {}),
                       ("b c ... -> b ... c", {}), ("(a b) c h w -> a b c h w", dict(a=1))):
    show(rearrange(x, pattern, **sizes)).pow(2).sum().backward()
for pattern, how, sizes in (("b c h w -> b c", "mean", {}), ("b c (h 2) (w 2) -> b c h w", "max", {}), ("b c h w -> () c () ()", "sum", {}), ("b c h w -> c b", "min", {}),
                            ("b c (h p) w -> b w", "prod", dict(p=4)), ("... w -> ...", "mean", {})):
    show(reduce(x, pattern, how, **sizes)).sum().backward()
for pattern, sizes in (("b c h w -> b c h w k", dict(k=3)), ("b c h w -> (r b) c h w", dict(r=2)), ("b c h w -> b c (h 2) (w 2)", {}), ("b ... -> b n ...", dict(n=4)), ("b c h w -> b c h w 1", {})):
    show(repeat(x, pattern, **sizes)).sum().backward()
print(parse_shape(x, "b _ h w"), parse_shape(x, "b ... w"))
show(rearrange([x[0], x[1]], "b c h w -> c b h w")).sum().backward()
q = torch.randn(2, 4, 7, 16, device="cuda", requires_grad=True)
show(einsum(q, q, "b h i d, b h j d -> b h i j")).sum().backward()
packed, shapes = pack([x, x.flatten(2)], "b c *")
a, b = unpack(packed, shapes, "b c *")
show(a).sum().backward(retain_graph=True)
print(shapes, b.shape)
for wrong in ("b c h -> b c h", "b c h w -> b c h", "b c (h 3) w -> b c h w", "b c h w -> b c h w k"):
    try:
        rearrange(x, wrong)
        print("taken")
    except Exception as error:
        print(type(error).__name__)


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.qkv = heads, nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Sequential(nn.Linear(width, width), nn.Dropout(0.1))

    def forward(self, x):
        q, k, v = map(lambda t: rearrange(t, "b n (h d) -> b h n d", h=self.heads), self.qkv(x).chunk(3, dim=-1))
        weights = (einsum(q, k, "b h i d, b h j d -> b h i j") * q.shape[-1] ** -0.5).softmax(-1)
        return self.out(rearrange(torch.einsum("bhij,bhjd->bhid", weights, v), "b h n d -> b n (h d)"))


class Patches(nn.Module):
    def __init__(self, width=64, side=8, depth=2):
        super().__init__()
        self.cut = nn.Sequential(Rearrange("b c (h p1) (w p2) -> b (h w) (p1 p2 c)", p1=side, p2=side), nn.LayerNorm(3 * side * side),
                                 nn.Linear(3 * side * side, width))
        self.first, self.places = nn.Parameter(torch.randn(1, 1, width)), nn.Parameter(torch.randn(1, 17, width))
        self.layers = nn.ModuleList()
        for _ in range(depth):
            feed = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 128), nn.GELU(), nn.Linear(128, width))
            self.layers.append(nn.ModuleList([nn.LayerNorm(width), Attention(width, 4), feed]))
        self.head = nn.Sequential(Reduce("b n d -> b d", "mean"), nn.Linear(width, 10))

    def forward(self, images):
        x = self.cut(images)
        x = torch.cat((repeat(self.first, "1 1 d -> b 1 d", b=len(x)), x), dim=1) + self.places
        for norm, attention, feed in self.layers:
            x = attention(norm(x)) + x
            x = feed(x) + x
        return self.head(x)


model = Patches().cuda()
print(model.cut[0])
optimizer = torch.optim.AdamW(model.parameters())
for step in range(3):
    loss = F.cross_entropy(model(torch.randn(4, 3, 32, 32).cuda()), torch.randint(0, 10, (4,)).cuda())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
