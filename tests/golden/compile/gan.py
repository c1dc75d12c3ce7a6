"""two compiled networks and a compiled loss"""
import torch, torch.nn as nn, torch.nn.functional as F
G = nn.Sequential(nn.Linear(64, 256), nn.LeakyReLU(0.2), nn.BatchNorm1d(256), nn.Linear(256, 784), nn.Tanh()).cuda()
D = nn.Sequential(nn.Linear(784, 512), nn.LeakyReLU(0.2), nn.Dropout(0.3), nn.Linear(512, 1)).cuda()
cG, cD = torch.compile(G), torch.compile(D)
oG = torch.optim.Adam(G.parameters(), lr=2e-4, betas=(0.5, 0.999)); oD = torch.optim.Adam(D.parameters(), lr=2e-4, betas=(0.5, 0.999))
bce = nn.BCEWithLogitsLoss()
for i in range(4):
    real = torch.randn(64, 784, device="cuda"); z = torch.randn(64, 64, device="cuda")
    fake = cG(z)
    d = bce(cD(real), torch.ones(64, 1, device="cuda")) + bce(cD(fake.detach()), torch.zeros(64, 1, device="cuda"))
    oD.zero_grad(); d.backward(); oD.step()
    g = bce(cD(fake), torch.ones(64, 1, device="cuda"))
    oG.zero_grad(); g.backward(); oG.step()
