import torch, math
import torch.nn as nn
import torch.nn.functional as F
# N-BEATS, Informer (ProbSparse), Autoformer(FFT), S4-like conv, DLinear, PatchTST, TFT gates, wav2vec2, HiFi-GAN, Demucs, MelGAN
class NBeatsBlock(nn.Module):
    def __init__(self, i, th, h):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(i, 64)] + [nn.Linear(64, 64) for _ in range(2)])
        self.params, self.i, self.h = nn.Linear(64, th), i, h
        self.bt, self.ft = (nn.Parameter(torch.linspace(0, 1, s).pow(torch.arange(th // 2).unsqueeze(1)).float(), requires_grad=False) for s in (i, h))
    def forward(self, x):
        b = x
        for l in self.layers:
            b = torch.relu(l(b))
        th = self.params(b)
        n = th.shape[-1] // 2
        return torch.einsum('bp,pt->bt', th[:, :n], self.bt), torch.einsum('bp,pt->bt', th[:, n:], self.ft)
class NBeats(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([NBeatsBlock(24, 8, 12) for _ in range(3)])
    def forward(self, x, mask):
        residuals = x.flip(dims=(1,))
        mask = mask.flip(dims=(1,))
        forecast = x[:, -1:]
        for block in self.blocks:
            backcast, bf = block(residuals)
            residuals = (residuals - backcast) * mask
            forecast = forecast + bf
        return forecast
class ProbAttention(nn.Module):
    def _prob_QK(self, Q, K, sample_k, n_top):
        B, H, L_K, E = K.shape
        _, _, L_Q, _ = Q.shape
        K_expand = K.unsqueeze(-3).expand(B, H, L_Q, L_K, E)
        index_sample = torch.randint(L_K, (L_Q, sample_k))
        K_sample = K_expand[:, :, torch.arange(L_Q).unsqueeze(1), index_sample, :]
        Q_K_sample = torch.matmul(Q.unsqueeze(-2), K_sample.transpose(-2, -1)).squeeze(-2)
        M = Q_K_sample.max(-1)[0] - torch.div(Q_K_sample.sum(-1), L_K)
        M_top = M.topk(n_top, sorted=False)[1]
        Q_reduce = Q[torch.arange(B)[:, None, None], torch.arange(H)[None, :, None], M_top, :]
        Q_K = torch.matmul(Q_reduce, K.transpose(-2, -1))
        return Q_K, M_top
    def forward(self, q, k, v):
        B, L, H, D = q.shape
        q, k, v = q.transpose(2, 1), k.transpose(2, 1), v.transpose(2, 1)
        U = 5
        s, index = self._prob_QK(q, k, 5, U)
        s = s * (1. / math.sqrt(D))
        ctx = v.mean(dim=-2).unsqueeze(-2).expand(B, H, L, v.shape[-1]).clone()
        attn = torch.softmax(s, dim=-1)
        ctx[torch.arange(B)[:, None, None], torch.arange(H)[None, :, None], index, :] = torch.matmul(attn, v).type_as(ctx)
        return ctx.transpose(2, 1).contiguous()
class SeriesDecomp(nn.Module):
    def __init__(self, k):
        super().__init__()
        self.k, self.avg = k, nn.AvgPool1d(kernel_size=k, stride=1, padding=0)
    def forward(self, x):
        front = x[:, 0:1, :].repeat(1, (self.k - 1) // 2, 1)
        end = x[:, -1:, :].repeat(1, (self.k - 1) // 2, 1)
        t = torch.cat([front, x, end], dim=1)
        t = self.avg(t.permute(0, 2, 1)).permute(0, 2, 1)
        return x - t, t
class AutoCorr(nn.Module):
    def forward(self, q, k, v):
        B, L, H, E = q.shape
        qf = torch.fft.rfft(q.permute(0, 2, 3, 1).contiguous(), dim=-1)
        kf = torch.fft.rfft(k.permute(0, 2, 3, 1).contiguous(), dim=-1)
        corr = torch.fft.irfft(qf * torch.conj(kf), dim=-1) if False else torch.fft.irfft(qf * kf, n=L, dim=-1)
        mean = torch.mean(torch.mean(corr, dim=1), dim=1)
        w, delay = torch.topk(mean, 3, dim=-1)
        tc = torch.softmax(w, dim=-1)
        vals = v.permute(0, 2, 3, 1).contiguous()
        tmp = vals.repeat(1, 1, 1, 2)
        init = torch.arange(L, device=q.device)[None, None, None].repeat(B, H, E, 1)
        agg = torch.zeros_like(vals).float()
        for i in range(3):
            td = init + delay[:, i].unsqueeze(1).unsqueeze(1).unsqueeze(1).repeat(1, H, E, L)
            agg = agg + torch.gather(tmp, dim=-1, index=td) * tc[:, i].unsqueeze(1).unsqueeze(1).unsqueeze(1).repeat(1, H, E, L)
        return agg.permute(0, 3, 1, 2).contiguous()
class S4D(nn.Module):
    def __init__(self, d, l):
        super().__init__()
        self.k, self.D = nn.Parameter(torch.randn(d, l)), nn.Parameter(torch.randn(d))
        self.out = nn.Sequential(nn.Conv1d(d, 2 * d, 1), nn.GLU(dim=-2))
    def forward(self, u):
        L = u.size(-1)
        kf = torch.fft.rfft(self.k, n=2 * L)
        uf = torch.fft.rfft(u, n=2 * L)
        y = torch.fft.irfft(uf * kf, n=2 * L)[..., :L]
        y = y + u * self.D.unsqueeze(-1)
        return self.out(F.gelu(y))
class GRN(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.l1, self.l2, self.g, self.n = nn.Linear(d, d), nn.Linear(d, d), nn.Linear(d, 2 * d), nn.LayerNorm(d)
    def forward(self, x):
        return self.n(x + F.glu(self.g(F.dropout(self.l2(F.elu(self.l1(x))), 0.1, self.training)), dim=-1))
class Fore(nn.Module):
    def __init__(self, d=16, L=24):
        super().__init__()
        self.emb = nn.Conv1d(3, d, 3, padding=1, padding_mode='circular', bias=False)
        self.dec, self.prob, self.ac, self.s4, self.grn = SeriesDecomp(5), ProbAttention(), AutoCorr(), S4D(d, L), GRN(d)
        self.q, self.k, self.v = nn.Linear(d, d), nn.Linear(d, d), nn.Linear(d, d)
        self.revw, self.revb = nn.Parameter(torch.ones(3)), nn.Parameter(torch.zeros(3))
        self.head = nn.Linear(d * L, 12 * 3)
        self.patch = nn.Linear(8, d)
    def forward(self, x):
        mean = torch.mean(x, dim=1, keepdim=True).detach()
        std = torch.sqrt(torch.var(x, dim=1, keepdim=True, unbiased=False) + 1e-5).detach()
        x = (x - mean) / std * self.revw + self.revb
        h = self.emb(x.permute(0, 2, 1)).transpose(1, 2)
        B, L, d = h.shape
        q, k, v = (f(h).view(B, L, 4, -1) for f in (self.q, self.k, self.v))
        h = h + self.prob(q, k, v).view(B, L, -1) + self.ac(q, k, v).view(B, L, -1)
        s, t = self.dec(h)
        h = self.grn(self.s4(s.transpose(1, 2)).transpose(1, 2)) + t
        p = x.permute(0, 2, 1).unfold(dimension=-1, size=8, step=4)
        z = self.patch(p).mean((1, 2))
        y = self.head((h + z[:, None]).flatten(1)).view(B, 12, 3)
        return (y - self.revb) / (self.revw + 1e-10) * std + mean
m, nb = Fore().cuda(), NBeats().cuda()
o = torch.optim.Adam(list(m.parameters()) + [p for p in nb.parameters() if p.requires_grad], lr=1e-3)
for i in range(2):
    x = torch.randn(4, 24, 3).cuda()
    y = m(x)
    f = nb(x[..., 0], torch.ones(4, 24).cuda())
    t = torch.randn(4, 12, 3).cuda()
    smape = (2 * (f - t[..., 0]).abs() / (f.abs() + t[..., 0].abs() + 1e-8)).mean()
    q = torch.tensor([0.1, 0.5, 0.9], device='cuda')
    err = t - y
    pin = torch.max((q - 1) * err, q * err).mean()
    loss = F.smooth_l1_loss(y, t) + smape + pin
    o.zero_grad(); loss.backward(); o.step()
LRELU = 0.1
def get_padding(k, d=1):
    return int((k * d - d) / 2)
from torch.nn.utils import weight_norm, remove_weight_norm, spectral_norm
class ResBlock(torch.nn.Module):
    def __init__(self, c, k=3, d=(1, 3)):
        super().__init__()
        self.convs1 = nn.ModuleList([weight_norm(nn.Conv1d(c, c, k, 1, dilation=x, padding=get_padding(k, x))) for x in d])
        self.convs2 = nn.ModuleList([weight_norm(nn.Conv1d(c, c, k, 1, padding=get_padding(k))) for x in d])
    def forward(self, x):
        for c1, c2 in zip(self.convs1, self.convs2):
            xt = F.leaky_relu(x, LRELU)
            xt = c1(xt)
            xt = F.leaky_relu(xt, LRELU)
            xt = c2(xt)
            x = xt + x
        return x
class Gen(nn.Module):
    def __init__(self):
        super().__init__()
        self.pre = weight_norm(nn.Conv1d(20, 32, 7, 1, padding=3))
        self.ups = nn.ModuleList([weight_norm(nn.ConvTranspose1d(32 // 2 ** i, 32 // 2 ** (i + 1), 8, 4, padding=2)) for i in range(2)])
        self.rb = nn.ModuleList([ResBlock(32 // 2 ** (i + 1), k) for i in range(2) for k in (3, 7)])
        self.post = weight_norm(nn.Conv1d(8, 1, 7, 1, padding=3))
    def forward(self, x):
        x = self.pre(x)
        for i in range(2):
            x = F.leaky_relu(x, LRELU)
            x = self.ups[i](x)
            xs = None
            for j in range(2):
                if xs is None:
                    xs = self.rb[i * 2 + j](x)
                else:
                    xs += self.rb[i * 2 + j](x)
            x = xs / 2
        x = F.leaky_relu(x)
        return torch.tanh(self.post(x))
class DiscP(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.p = p
        self.convs = nn.ModuleList([weight_norm(nn.Conv2d(1, 8, (5, 1), (3, 1), padding=(2, 0))), weight_norm(nn.Conv2d(8, 16, (5, 1), (3, 1), padding=(2, 0)))])
        self.post = weight_norm(nn.Conv2d(16, 1, (3, 1), 1, padding=(1, 0)))
    def forward(self, x):
        fmap = []
        b, c, t = x.shape
        if t % self.p != 0:
            n_pad = self.p - (t % self.p)
            x = F.pad(x, (0, n_pad), "reflect")
            t = t + n_pad
        x = x.view(b, c, t // self.p, self.p)
        for l in self.convs:
            x = F.leaky_relu(l(x), LRELU)
            fmap.append(x)
        x = self.post(x)
        fmap.append(x)
        return torch.flatten(x, 1, -1), fmap
class DiscS(nn.Module):
    def __init__(self):
        super().__init__()
        self.convs = nn.ModuleList([spectral_norm(nn.Conv1d(1, 16, 15, 1, padding=7)), spectral_norm(nn.Conv1d(16, 16, 41, 2, groups=4, padding=20))])
        self.post = spectral_norm(nn.Conv1d(16, 1, 3, 1, padding=1))
    def forward(self, x):
        fmap = []
        for l in self.convs:
            x = F.leaky_relu(l(x), LRELU); fmap.append(x)
        return torch.flatten(self.post(x), 1, -1), fmap
g, ds = Gen().cuda(), nn.ModuleList([DiscP(2), DiscP(3), DiscS()]).cuda()
og = torch.optim.AdamW(g.parameters(), 2e-4, betas=[0.8, 0.99]); od = torch.optim.AdamW(ds.parameters(), 2e-4, betas=[0.8, 0.99])
win = torch.hann_window(64).cuda()
def mel(y):
    y = F.pad(y.unsqueeze(1), (24, 24), mode='reflect').squeeze(1)
    s = torch.stft(y, 64, hop_length=16, win_length=64, window=win, center=False, normalized=False, onesided=True, return_complex=True)
    s = torch.view_as_real(s)
    s = torch.sqrt(s.pow(2).sum(-1) + 1e-9)
    return torch.log(torch.clamp(s, min=1e-5))
for i in range(2):
    x, y = torch.randn(2, 20, 16).cuda(), torch.randn(2, 1, 256).cuda()
    yg = g(x)
    od.zero_grad()
    ld = 0
    for d in ds:
        r, _ = d(y); f, _ = d(yg.detach())
        ld += torch.mean((1 - r) ** 2) + torch.mean(f ** 2)
    ld.backward(); od.step()
    og.zero_grad()
    lm = F.l1_loss(mel(y.squeeze(1)), mel(yg.squeeze(1))) * 45
    la = 0
    for d in ds:
        r, fr = d(y); f, ff = d(yg)
        la += torch.mean((1 - f) ** 2)
        for a, b in zip(fr, ff):
            la += 2 * torch.mean(torch.abs(a - b))
    (la + lm).backward(); og.step()
for l in g.ups:
    remove_weight_norm(l)
with torch.no_grad():
    g(torch.randn(1, 20, 8, device='cuda'))
class Wav2Vec(nn.Module):
    def __init__(self, d=32):
        super().__init__()
        self.fe = nn.ModuleList([nn.Sequential(nn.Conv1d(1, d, 10, 5, bias=False), nn.Dropout(0.), nn.GroupNorm(d, d, affine=True), nn.GELU()), nn.Sequential(nn.Conv1d(d, d, 3, 2, bias=False), nn.Dropout(0.), nn.GELU())])
        self.ln, self.pc = nn.LayerNorm(d), nn.Conv1d(d, d, 16, padding=8, groups=4)
        self.pc = nn.utils.weight_norm(self.pc, name="weight", dim=2)
        self.enc = nn.TransformerEncoder(nn.TransformerEncoderLayer(d, 4, 64, 0.1, 'gelu', batch_first=True), 2, enable_nested_tensor=False)
        self.mask_emb = nn.Parameter(torch.FloatTensor(d).uniform_())
        self.vars, self.wp = nn.Parameter(torch.FloatTensor(1, 2 * 8, d // 2)), nn.Linear(d, 16)
        self.fp, self.pq = nn.Linear(d, d), nn.Linear(d, d)
    def quant(self, x):
        b, t, c = x.shape
        x = self.wp(x.reshape(-1, c)).view(b * t * 2, -1)
        _, k = x.max(-1)
        hard = x.new_zeros(*x.shape).scatter_(-1, k.view(-1, 1), 1.0).view(b * t, 2, -1)
        avg = torch.softmax(x.view(b * t, 2, -1).float(), dim=-1).mean(dim=0)
        perp = torch.exp(-torch.sum(avg * torch.log(avg + 1e-7), dim=-1)).sum()
        x = F.gumbel_softmax(x.float(), tau=2.0, hard=True).type_as(x).view(b * t, -1)
        x = x.unsqueeze(-1) * self.vars
        return x.view(b * t, 2, 8, -1).sum(-2).view(b, t, -1), perp
    def forward(self, w):
        x = w.unsqueeze(1)
        for f in self.fe:
            x = f(x)
        x = self.ln(x.transpose(1, 2))
        un = x.clone()
        m = torch.zeros(x.shape[:2], dtype=torch.bool, device=x.device)
        m[:, 2:5] = True
        x = torch.where(m.unsqueeze(-1), self.mask_emb, x)
        p = F.gelu(self.pc(x.transpose(1, 2))[:, :, :-1])
        x = self.enc(x + p.transpose(1, 2))
        q, perp = self.quant(un)
        x, q = self.fp(x)[:, 2:5], self.pq(q)[:, 2:5]
        neg = q.reshape(-1, q.size(-1))[torch.randint(0, 6, (6 * 5,))].view(2, 3, 5, -1).permute(2, 0, 1, 3)
        t = torch.cat([q.unsqueeze(0), neg], dim=0)
        lg = torch.cosine_similarity(x.float(), t.float(), dim=-1).type_as(x) / 0.1
        lg = lg.transpose(0, 2).reshape(-1, lg.size(0))
        return F.cross_entropy(lg, torch.zeros(lg.size(0), dtype=torch.long, device=x.device)) + 0.1 * perp
w = Wav2Vec().cuda()
o = torch.optim.Adam(w.parameters(), 1e-4)
for i in range(2):
    l = w(torch.randn(2, 200).cuda()); o.zero_grad(); l.backward(); o.step()
