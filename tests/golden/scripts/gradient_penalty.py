# The gradient penalty of WGAN-GP: a gradient that is trained on.
import torch
from torch import nn

dev="cuda"
torch.manual_seed(0)
net=nn.Sequential(nn.Linear(64,128),nn.LeakyReLU(0.2),nn.Linear(128,128),nn.LeakyReLU(0.2),nn.Linear(128,1)).to(dev)
opt=torch.optim.Adam(net.parameters(),lr=1e-4)
for step in range(3):
    real=torch.randn(32,64,device=dev); fake=torch.randn(32,64,device=dev)
    alpha=torch.rand(32,1,device=dev)
    inter=(alpha*real+(1-alpha)*fake).requires_grad_(True)
    d=net(inter)
    g=torch.autograd.grad(outputs=d,inputs=inter,grad_outputs=torch.ones_like(d),create_graph=True,retain_graph=True,only_inputs=True)[0]
    g=g.view(g.size(0),-1)
    gp=((g.norm(2,dim=1)-1)**2).mean()
    loss=-net(real).mean()+net(fake).mean()+10*gp
    opt.zero_grad()
    loss.backward()
    opt.step()
