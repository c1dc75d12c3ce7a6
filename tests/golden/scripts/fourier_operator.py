import torch, torch.nn as nn, torch.nn.functional as F

class SpectralConv2d(nn.Module):
    def __init__(self, cin, cout, m1, m2):
        super().__init__()
        self.cin, self.cout, self.m1, self.m2 = cin, cout, m1, m2
        self.scale = 1 / (cin * cout)
        self.w1 = nn.Parameter(self.scale * torch.rand(cin, cout, m1, m2, dtype=torch.cfloat))
        self.w2 = nn.Parameter(self.scale * torch.rand(cin, cout, m1, m2, dtype=torch.cfloat))

    def compl_mul2d(self, a, b):
        return torch.einsum("bixy,ioxy->boxy", a, b)

    def forward(self, x):
        b = x.shape[0]
        x_ft = torch.fft.rfft2(x)
        out_ft = torch.zeros(b, self.cout, x.size(-2), x.size(-1) // 2 + 1, dtype=torch.cfloat, device=x.device)
        out_ft[:, :, :self.m1, :self.m2] = self.compl_mul2d(x_ft[:, :, :self.m1, :self.m2], self.w1)
        out_ft[:, :, -self.m1:, :self.m2] = self.compl_mul2d(x_ft[:, :, -self.m1:, :self.m2], self.w2)
        return torch.fft.irfft2(out_ft, s=(x.size(-2), x.size(-1)))

class FNO2d(nn.Module):
    def __init__(self, m1=12, m2=12, width=20):
        super().__init__()
        self.p = nn.Linear(3, width)
        self.convs = nn.ModuleList([SpectralConv2d(width, width, m1, m2) for _ in range(4)])
        self.ws = nn.ModuleList([nn.Conv2d(width, width, 1) for _ in range(4)])
        self.norm = nn.InstanceNorm2d(width)
        self.q1 = nn.Conv2d(width, 4 * width, 1)
        self.q2 = nn.Conv2d(4 * width, 1, 1)

    def get_grid(self, shape, device):
        b, sx, sy = shape[0], shape[1], shape[2]
        gx = torch.linspace(0, 1, sx).reshape(1, sx, 1, 1).repeat([b, 1, sy, 1])
        gy = torch.linspace(0, 1, sy).reshape(1, 1, sy, 1).repeat([b, sx, 1, 1])
        return torch.cat((gx, gy), dim=-1).to(device)

    def forward(self, x):
        x = torch.cat((x, self.get_grid(x.shape, x.device)), dim=-1)
        x = self.p(x).permute(0, 3, 1, 2)
        for i, (c, w) in enumerate(zip(self.convs, self.ws)):
            x = self.norm(c(self.norm(x))) + w(x)
            if i < 3:
                x = F.gelu(x)
        x = self.q2(F.gelu(self.q1(x)))
        return x.permute(0, 2, 3, 1)

def lp_loss(x, y):
    n = x.size(0)
    d = torch.norm(x.reshape(n, -1) - y.reshape(n, -1), 2, 1)
    return torch.sum(d / torch.norm(y.reshape(n, -1), 2, 1))

model = FNO2d().cuda()
opt = torch.optim.Adam(model.parameters(), lr=1e-3, weight_decay=1e-4)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=10)
for step in range(3):
    x, y = torch.randn(4, 64, 64, 1).cuda(), torch.randn(4, 64, 64, 1).cuda()
    opt.zero_grad()
    out = model(x).reshape(4, 64, 64)
    loss = lp_loss(out.view(4, -1), y.view(4, -1))
    loss.backward()
    opt.step()
    sched.step()
