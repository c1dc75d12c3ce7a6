import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn import Parameter
def scatter_sum(src, index, dim, out=None, dim_size=None):
    idx = index.view(-1, *([1] * (src.dim() - 1))).expand_as(src)
    if out is None:
        size = list(src.size())
        if dim_size is not None:
            size[dim] = dim_size
        elif index.numel() == 0:
            size[dim] = 0
        out = torch.zeros(size, dtype=src.dtype, device=src.device)
        return out.scatter_add_(dim, idx, src)
    else:
        return out.scatter_add_(dim, idx, src)
def scatter_mean(src, index, dim, n):
    out = scatter_sum(src, index, dim, dim_size=n)
    ones = torch.ones(index.size(), dtype=src.dtype, device=src.device)
    count = scatter_sum(ones, index, 0, dim_size=n)
    count[count < 1] = 1
    count = count.view(-1, 1).expand_as(out)
    out.div_(count)
    return out
def softmax(src, index, n):
    src_max = torch.full((n, src.size(1)), -1e9, device=src.device).scatter_reduce_(0, index.view(-1, 1).expand_as(src), src.detach(), reduce='amax', include_self=True)
    out = src - src_max.index_select(0, index)
    out = out.exp()
    out_sum = torch.zeros(n, src.size(1), device=src.device).index_add_(0, index, out) + 1e-16
    return out / out_sum.index_select(0, index)
class GATConv(nn.Module):
    def __init__(self, i, o, heads=2, slope=0.2, dropout=0.1):
        super().__init__()
        self.h, self.o, self.slope, self.p = heads, o, slope, dropout
        self.lin = nn.Linear(i, heads * o, bias=False)
        self.att_src, self.att_dst = Parameter(torch.empty(1, heads, o)), Parameter(torch.empty(1, heads, o))
        self.bias = Parameter(torch.empty(heads * o))
        self.reset_parameters()
    def reset_parameters(self):
        nn.init.xavier_uniform_(self.att_src); nn.init.xavier_uniform_(self.att_dst); nn.init.zeros_(self.bias)
    def forward(self, x, edge_index):
        n = x.size(0)
        x = self.lin(x).view(-1, self.h, self.o)
        a_s = (x * self.att_src).sum(dim=-1)
        a_d = (x * self.att_dst).sum(-1)
        row, col = edge_index
        alpha = a_s[row] + a_d[col]
        alpha = F.leaky_relu(alpha, self.slope)
        alpha = softmax(alpha, col, n)
        alpha = F.dropout(alpha, p=self.p, training=self.training)
        msg = alpha.unsqueeze(-1) * x.index_select(0, row)
        out = torch.zeros_like(x).index_add(0, col, msg)
        return out.view(n, -1) + self.bias
class SAGE(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.l, self.r = nn.Linear(i, o), nn.Linear(i, o, bias=False)
    def forward(self, x, e):
        m = scatter_mean(x[e[0]], e[1], 0, x.size(0))
        out = self.l(m) + self.r(x)
        return F.normalize(out, p=2., dim=-1)
class GIN(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.eps = Parameter(torch.zeros(1))
        self.mlp = nn.Sequential(nn.Linear(i, o), nn.BatchNorm1d(o), nn.ReLU(), nn.Linear(o, o))
    def forward(self, x, e):
        agg = torch.zeros_like(x)
        agg.index_add_(0, e[1], x[e[0]])
        return self.mlp((1 + self.eps) * x + agg)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1, self.c2, self.c3 = GATConv(16, 16), SAGE(32, 32), GIN(32, 32)
        self.out = nn.Linear(32, 7)
    def forward(self, x, e, batch):
        x = F.elu(self.c1(F.dropout(x, 0.6, self.training), e))
        x = F.relu(self.c2(x, e))
        x = self.c3(x, e)
        g = torch.zeros(4, 32, device=x.device).scatter_reduce(0, batch.unsqueeze(1).expand(-1, 32), x, reduce="mean", include_self=False)
        return F.log_softmax(self.out(x), dim=1), g
net = Net().cuda()
N, E = 60, 300
opt = torch.optim.Adam([dict(params=net.c1.parameters(), weight_decay=5e-4), dict(params=net.c2.parameters(), weight_decay=0), dict(params=list(net.c3.parameters()) + list(net.out.parameters()))], lr=0.01)
x, e, b, y = torch.randn(N, 16).cuda(), torch.randint(0, N, (2, E)).cuda(), torch.randint(0, 4, (N,)).sort()[0].cuda(), torch.randint(0, 7, (N,)).cuda()
idx = torch.arange(30, device='cuda')
for ep in range(3):
    net.train(); opt.zero_grad()
    out, g = net(x, e, b)
    loss = F.nll_loss(out[idx], y[idx]) + 0.1 * g.pow(2).mean()
    loss.backward(); opt.step()
    with torch.no_grad():
        net.eval()
        pred = net(x, e, b)[0].argmax(dim=-1)
        acc = int((pred[idx] == y[idx]).sum()) / 30
class ODEFunc(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(d + 1, 50), nn.Tanh(), nn.Linear(50, d))
        for m in self.net.modules():
            if isinstance(m, nn.Linear):
                nn.init.normal_(m.weight, mean=0, std=0.1)
                nn.init.constant_(m.bias, val=0)
    def forward(self, t, y):
        tt = torch.ones_like(y[:, :1]) * t
        return self.net(torch.cat([tt, y ** 3], 1))
def odeint(func, y0, t, method='rk4'):
    ys = [y0]
    for t0, t1 in zip(t[:-1], t[1:]):
        dt = t1 - t0
        if method == 'euler':
            dy = dt * func(t0, y0)
        else:
            k1 = func(t0, y0)
            k2 = func(t0 + dt / 2, y0 + dt * k1 / 2)
            k3 = func(t0 + dt / 2, y0 + dt * k2 / 2)
            k4 = func(t1, y0 + dt * k3)
            dy = (k1 + 2 * k2 + 2 * k3 + k4) * dt / 6
        y0 = y0 + dy
        ys.append(y0)
    return torch.stack(ys)
f = ODEFunc(4).cuda()
o = torch.optim.RMSprop(f.parameters(), lr=1e-3)
t = torch.linspace(0., 1., 6).cuda()
for m in ('euler', 'rk4'):
    o.zero_grad()
    p = odeint(f, torch.randn(20, 4).cuda(), t, m)
    loss = torch.mean(torch.abs(p - torch.zeros(6, 20, 4).cuda()))
    loss.backward(); o.step()
