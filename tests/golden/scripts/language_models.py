import torch, math
import torch.nn as nn
import torch.nn.functional as F
from dataclasses import dataclass
from typing import Optional, Tuple
# Gemma2-like (softcap, GeGLU), NeoX parallel, Falcon MQA, Phi partial rotary, Mixtral MoE, DeBERTa, XLNet-ish two-stream, BART, static cache, sliding window
@dataclass
class Cfg:
    d: int = 32
    h: int = 4
    kv: int = 2
    L: int = 2
    V: int = 96
    ffn: int = 64
    T: int = 16
class GemmaRMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.eps, self.weight = eps, nn.Parameter(torch.zeros(dim))
    def _norm(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)
    def forward(self, x):
        output = self._norm(x.float())
        output = output * (1.0 + self.weight.float())
        return output.type_as(x)
def rot(x):
    a, b = x.chunk(2, -1)
    return torch.cat((-b, a), -1)
class Rope(nn.Module):
    def __init__(self, dim, base=10000.0):
        super().__init__()
        self.register_buffer("inv_freq", 1.0 / (base ** (torch.arange(0, dim, 2).float() / dim)), persistent=False)
    @torch.no_grad()
    def forward(self, x, pos):
        inv = self.inv_freq[None, :, None].float().expand(pos.shape[0], -1, 1)
        p = pos[:, None, :].float()
        with torch.autocast(device_type="cuda", enabled=False):
            freqs = (inv.float() @ p.float()).transpose(1, 2)
            emb = torch.cat((freqs, freqs), dim=-1)
        return emb.cos().to(x.dtype).unsqueeze(1), emb.sin().to(x.dtype).unsqueeze(1)
class StaticCache:
    def __init__(self, b, kv, T, hd, dtype, device):
        self.k, self.v = torch.zeros(b, kv, T, hd, dtype=dtype, device=device), torch.zeros(b, kv, T, hd, dtype=dtype, device=device)
    def update(self, k, v, pos):
        self.k.index_copy_(2, pos, k)
        self.v.index_copy_(2, pos, v)
        return self.k, self.v
class Attn(nn.Module):
    def __init__(self, c, softcap=50.0, partial=1.0):
        super().__init__()
        self.c, self.hd, self.cap = c, c.d // c.h, softcap
        self.q, self.k, self.v, self.o = nn.Linear(c.d, c.h * self.hd, bias=False), nn.Linear(c.d, c.kv * self.hd, bias=False), nn.Linear(c.d, c.kv * self.hd, bias=False), nn.Linear(c.h * self.hd, c.d, bias=False)
        self.rd = int(self.hd * partial)
    def forward(self, x, cos, sin, mask, cache=None, pos=None):
        b, t, _ = x.shape
        sh = lambda z: z.view(b, t, -1, self.hd).transpose(1, 2)
        q, k, v = sh(self.q(x)), sh(self.k(x)), sh(self.v(x))
        if self.rd < self.hd:
            qr, qp = q[..., :self.rd], q[..., self.rd:]
            kr, kp = k[..., :self.rd], k[..., self.rd:]
            cs, sn = cos[..., :self.rd], sin[..., :self.rd]
            q = torch.cat((qr * cs + rot(qr) * sn, qp), -1)
            k = torch.cat((kr * cs + rot(kr) * sn, kp), -1)
        else:
            q, k = (q * cos) + (rot(q) * sin), (k * cos) + (rot(k) * sin)
        if cache is not None:
            k, v = cache.update(k, v, pos)
        k = torch.repeat_interleave(k, self.c.h // self.c.kv, dim=1)
        v = torch.repeat_interleave(v, self.c.h // self.c.kv, dim=1)
        w = torch.matmul(q, k.transpose(2, 3)) * self.hd ** -0.5
        if self.cap:
            w = w / self.cap
            w = torch.tanh(w)
            w = w * self.cap
        w = w + mask[:, :, :, :k.shape[-2]]
        w = F.softmax(w, dim=-1, dtype=torch.float32).to(q.dtype)
        y = torch.matmul(w, v).transpose(1, 2).contiguous().view(b, t, -1)
        return self.o(y)
class GeGLU(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.g, self.u, self.d = nn.Linear(c.d, c.ffn, bias=False), nn.Linear(c.d, c.ffn, bias=False), nn.Linear(c.ffn, c.d, bias=False)
    def forward(self, x):
        return self.d(F.gelu(self.g(x), approximate="tanh") * self.u(x))
class SparseMoe(nn.Module):
    def __init__(self, c, E=4, k=2):
        super().__init__()
        self.gate, self.k, self.E = nn.Linear(c.d, E, bias=False), k, E
        self.experts = nn.ModuleList([GeGLU(c) for _ in range(E)])
    def forward(self, x):
        b, t, d = x.shape
        x = x.view(-1, d)
        logits = self.gate(x)
        w = F.softmax(logits, dim=1, dtype=torch.float)
        w, sel = torch.topk(w, self.k, dim=-1)
        w /= w.sum(dim=-1, keepdim=True)
        w = w.to(x.dtype)
        out = torch.zeros((b * t, d), dtype=x.dtype, device=x.device)
        dense = torch.zeros(b * t, self.E, dtype=x.dtype, device=x.device).scatter(1, sel, w)
        for e in range(self.E):
            out = out + dense[:, e:e + 1] * self.experts[e](x)
        me = F.one_hot(sel, self.E).float().mean((0, 1))
        aux = (me * logits.softmax(-1).mean(0)).sum() * self.E
        return out.view(b, t, d), aux
class Block(nn.Module):
    def __init__(self, c, kind):
        super().__init__()
        self.kind = kind
        self.n1, self.n2 = GemmaRMSNorm(c.d), GemmaRMSNorm(c.d)
        if kind == 'gemma':
            self.n3, self.n4 = GemmaRMSNorm(c.d), GemmaRMSNorm(c.d)
        self.attn = Attn(c, 50.0 if kind == 'gemma' else None, 0.5 if kind == 'phi' else 1.0)
        self.mlp = SparseMoe(c) if kind == 'moe' else GeGLU(c)
    def forward(self, x, cos, sin, mask, cache=None, pos=None):
        aux = 0.
        if self.kind == 'phi':
            h = self.n1(x)
            return x + self.attn(h, cos, sin, mask, cache, pos) + self.mlp(h), aux
        h = self.attn(self.n1(x), cos, sin, mask, cache, pos)
        x = x + (self.n3(h) if self.kind == 'gemma' else h)
        h = self.mlp(self.n2(x))
        if self.kind == 'moe':
            h, aux = h
        return x + (self.n4(h) if self.kind == 'gemma' else h), aux
class LM(nn.Module):
    def __init__(self, c, kinds):
        super().__init__()
        self.c, self.emb, self.rope = c, nn.Embedding(c.V, c.d, padding_idx=0), Rope(c.d // c.h)
        self.blocks = nn.ModuleList(Block(c, k) for k in kinds)
        self.norm = GemmaRMSNorm(c.d)
        self.register_buffer('neg', torch.full((c.T, c.T), torch.finfo(torch.float32).min).triu(1), persistent=False)
        self.post_init()
    def post_init(self):
        for n, p in self.named_parameters():
            if p.dim() > 1:
                nn.init.normal_(p, mean=0.0, std=0.02 / math.sqrt(2 * self.c.L))
    def forward(self, ids, attention_mask=None, labels=None, caches=None, pos=None):
        x = self.emb(ids)
        x = x * torch.tensor(self.c.d ** 0.5, dtype=x.dtype)
        t = ids.shape[1]
        p = torch.arange(t, device=ids.device) if pos is None else pos
        cos, sin = self.rope(x, p.unsqueeze(0))
        mask = self.neg[p][None, None].to(x.dtype)
        if attention_mask is not None:
            mask = mask.clone()[:, :, :t, :t] + (1.0 - attention_mask[:, None, None, :].to(x.dtype)) * torch.finfo(x.dtype).min
        aux = 0.
        for i, b in enumerate(self.blocks):
            x, a = b(x, cos, sin, mask, caches[i] if caches else None, p)
            aux = aux + a
        x = self.norm(x)
        lg = F.linear(x, self.emb.weight)
        lg = 30.0 * torch.tanh(lg / 30.0)
        loss = None
        if labels is not None:
            sl = lg[..., :-1, :].contiguous().float()
            st = labels[..., 1:].contiguous()
            loss = F.cross_entropy(sl.view(-1, self.c.V), st.view(-1).to(sl.device), ignore_index=-100) + 0.01 * aux
        return lg, loss
    @torch.inference_mode()
    def generate(self, ids, n, temperature=0.8, top_p=0.9):
        b, t = ids.shape
        caches = [StaticCache(b, self.c.kv, self.c.T, self.c.d // self.c.h, self.emb.weight.dtype, ids.device) for _ in self.blocks]
        pos = torch.arange(t, device=ids.device)
        lg, _ = self(ids, caches=caches, pos=pos)
        out = [ids]
        for i in range(n):
            probs = torch.softmax(lg[:, -1].div_(temperature), dim=-1, dtype=torch.float)
            ps, pi = torch.sort(probs, dim=-1, descending=True)
            cs = torch.cumsum(ps, dim=-1)
            ps[cs - ps > top_p] = 0.0
            ps.div_(ps.sum(dim=-1, keepdim=True))
            nt = torch.gather(pi, -1, torch.multinomial(ps, num_samples=1))
            out.append(nt)
            pos = pos[-1:] + 1
            lg, _ = self(nt, caches=caches, pos=pos)
        return torch.cat(out, 1)
c = Cfg()
for dt, kinds in ((torch.float32, ['gemma', 'gemma']), (torch.bfloat16, ['phi', 'moe'])):
    m = LM(c, kinds).to(device='cuda', dtype=dt)
    decay = [p for n, p in m.named_parameters() if p.dim() >= 2]
    no = [p for n, p in m.named_parameters() if p.dim() < 2]
    o = torch.optim.AdamW([{'params': decay, 'weight_decay': 0.1}, {'params': no, 'weight_decay': 0.0}], lr=1e-3, betas=(0.9, 0.95), foreach=True)
    for i in range(2):
        ids = torch.randint(1, c.V, (2, 16), device='cuda')
        am = torch.ones_like(ids) if i else None
        lab = ids.masked_fill(ids == 0, -100)
        _, loss = m(ids, am, lab)
        loss.backward()
        gn = torch.nn.utils.clip_grad_norm_(m.parameters(), 1.0)
        o.step(); o.zero_grad(set_to_none=True)
    m.eval()
    m.generate(torch.ones(2, 4, dtype=torch.long, device='cuda'), 4)
class DisentangledAttn(nn.Module):
    def __init__(self, d, h, span=8):
        super().__init__()
        self.h, self.d, self.span = h, d // h, span
        self.qkv, self.pk, self.pq = nn.Linear(d, 3 * d, bias=False), nn.Linear(d, d, bias=False), nn.Linear(d, d)
        self.qb, self.vb = nn.Parameter(torch.zeros(d)), nn.Parameter(torch.zeros(d))
        self.rel = nn.Embedding(2 * span, d)
    def sp(self, x):
        return x.view(x.size()[:-1] + (self.h, -1)).permute(0, 2, 1, 3)
    def forward(self, x, mask):
        q, k, v = self.sp(self.qkv(x)).chunk(3, dim=-1)
        q = q + self.sp(self.qb[None, None, :])
        v = v + self.sp(self.vb[None, None, :])
        scale = math.sqrt(q.size(-1) * 3)
        s = torch.matmul(q / scale, k.transpose(-1, -2))
        n = x.size(1)
        r = (torch.arange(n)[:, None] - torch.arange(n)[None]).to(x.device)
        idx = torch.clamp(r + self.span, 0, self.span * 2 - 1)[None, None]
        re = self.rel.weight.unsqueeze(0)
        pk, pq = self.sp(self.pk(re)), self.sp(self.pq(re)) / scale
        c2p = torch.matmul(q, pk.transpose(-1, -2))
        c2p = torch.gather(c2p, dim=-1, index=idx.expand([q.size(0), q.size(1), q.size(2), idx.size(-1)]))
        p2c = torch.matmul(k, pq.transpose(-1, -2).to(dtype=k.dtype))
        p2c = torch.gather(p2c, dim=-1, index=idx.expand([q.size(0), q.size(1), k.size(-2), k.size(-2)])).transpose(-1, -2)
        s = s + c2p + p2c
        rm = ~(mask.bool())
        p = torch.softmax(s.masked_fill(rm, torch.finfo(s.dtype).min), -1)
        p = p.masked_fill(rm, 0)
        return torch.matmul(F.dropout(p, 0.1, self.training), v).permute(0, 2, 1, 3).contiguous().view(*x.shape)
da = nn.ModuleDict({'e': nn.Embedding(50, 32), 'a': DisentangledAttn(32, 4), 'n': nn.LayerNorm(32, 1e-7), 'o': nn.Linear(32, 50)}).cuda()
o = torch.optim.Adamax(da.parameters())
for i in range(2):
    ids = torch.randint(0, 50, (3, 10)).cuda()
    am = torch.ones(3, 10, device='cuda')
    e = am.unsqueeze(1).unsqueeze(2)
    am2 = e * e.squeeze(-2).unsqueeze(-1)
    x = da['e'](ids)
    x = da['n'](x + da['a'](x, am2))
    F.cross_entropy(da['o'](x).flatten(0, 1), ids.flatten()).backward()
    o.step(); o.zero_grad()
