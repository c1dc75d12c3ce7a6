# R1: the penalty on a critic's gradient at real images, through convolutions.
import torch
import torch.nn.functional as F
from torch import nn

dev="cuda"
D=nn.Sequential(nn.Conv2d(3,32,4,2,1),nn.LeakyReLU(0.2),nn.Conv2d(32,64,4,2,1),nn.LeakyReLU(0.2),nn.Flatten(),nn.Linear(64*8*8,1)).to(dev)
opt=torch.optim.Adam(D.parameters())
for i in range(3):
    x=torch.randn(8,3,32,32,device=dev,requires_grad=True)
    out=D(x)
    loss=F.softplus(-out).mean()
    g,=torch.autograd.grad(out.sum(),x,create_graph=True)
    r1=g.pow(2).reshape(8,-1).sum(1).mean()
    (loss+5*r1).backward()
    opt.step(); opt.zero_grad()
