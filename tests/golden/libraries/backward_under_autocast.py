"""Gradients made while autocast is still on: what they sum is float32, where PyTorch calls sum itself."""
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
conv = nn.Conv2d(8, 6, 3, padding=1).cuda(); ct = nn.ConvTranspose2d(6, 4, 2, stride=2).cuda(); c1 = nn.Conv1d(64, 5, 3).cuda(); dw = nn.Conv3d(4, 4, 3, groups=4, padding=1).cuda()
lin = nn.Linear(16, 5).cuda(); ln = nn.LayerNorm(5).cuda(); gn = nn.GroupNorm(2, 6).cuda(); bn = nn.BatchNorm2d(4).cuda(); pr = nn.PReLU(4).cuda()
w = nn.Parameter(torch.randn(1, 4, 1, 1).cuda()); emb = nn.Embedding(30, 16).cuda()
with torch.autocast("cuda", torch.bfloat16, cache_enabled=False):
    x = torch.randn(2, 8, 16, 16).cuda()
    y = pr(bn(ct(gn(conv(x)))))
    z = y * w
    a = dw(z.unsqueeze(2))
    b = c1(z.flatten(1, 2).flatten(2)[:, :64])
    l = ln(lin(emb(torch.randint(0, 30, (2, 7)).cuda())))
    q = torch.softmax(l, -1) ; k = torch.cumsum(l, -1); n = l.norm(dim=-1); p = l.pow(2).prod(-1); e = torch.matmul(l, l.transpose(1, 2))
    s = F.gelu(l) + F.silu(l) * torch.tanh(l).exp() + torch.sigmoid(l).log() + l.std(-1, keepdim=True) + l.var(-1, keepdim=True)
    (a.mean() + b.mean() + q.sum() + k.sum() + n.sum() + p.sum() + e.mean() + s.mean() + z.logsumexp(1).mean()).backward()
for dt in (torch.float16, torch.bfloat16):
    ln = nn.LayerNorm(64).cuda().to(dt); gn = nn.GroupNorm(2, 8).cuda().to(dt)
    x = torch.randn(2048, 64, device="cuda", dtype=dt, requires_grad=True); xc = torch.randn(2, 8, 12, 12, device="cuda", dtype=dt, requires_grad=True)
    c = nn.Conv2d(8, 6, 3).cuda(); ct = nn.ConvTranspose2d(8, 6, 3).cuda(); cd = nn.Conv2d(8, 6, 3, dilation=2).cuda(); c3 = nn.Conv3d(2, 3, 3, dilation=2, padding=2).cuda(); t3 = nn.ConvTranspose3d(2, 3, 2).cuda(); pr = nn.PReLU(1).cuda().to(dt)
    with torch.autocast("cuda", dt, cache_enabled=False):
        with torch.autocast("cuda", enabled=False): n = ln(x); g = gn(xc)
        n.mean().backward(); g.mean().backward()
        pr(xc).mean().backward()
        x.expand(3, 2048, 64).mean().backward(); xc.repeat(2, 2, 1, 1).mean().backward()
        with torch.backends.cudnn.flags(enabled=False):
            v = torch.randn(1, 2, 6, 6, 6, device="cuda")
            (c(xc).mean() + ct(xc).mean()).backward(); cd(xc).mean().backward(); c3(v).mean().backward(); t3(v).mean().backward()
m = nn.MultiheadAttention(32, 4, batch_first=True).cuda(); enc = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True).cuda(); bil = nn.Bilinear(32, 32, 5).cuda()
b = nn.Parameter(torch.randn(32).cuda()); h = nn.Linear(32, 32).cuda().half()
x = torch.randn(2, 9, 32, device="cuda", requires_grad=True)
xh = torch.randn(2, 9, 32, device="cuda", dtype=torch.half, requires_grad=True)
with torch.autocast("cuda", torch.float16, cache_enabled=False):
    y, _ = m(x, x, x)
    y = enc(y + b)
    o = y
    (o.mean() + bil(y, y).mean() + F.scaled_dot_product_attention(y[:, None], y[:, None], y[:, None]).mean()).backward()
    (h(xh) + b).float().sum().backward()
    (xh * b.half() + xh.mean(1, keepdim=True) + xh.expand(3, 2, 9, 32).sum(0)).float().sum().backward()
    g = torch.autograd.grad(F.cross_entropy(h(xh).view(-1, 32), torch.randint(0, 32, (18,)).cuda()), [xh, h.weight], create_graph=True)
    sum(i.float().pow(2).sum() for i in g).backward()
