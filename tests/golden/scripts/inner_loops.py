# Inner loops as in MAML: gradients through two steps of training.
import torch
import torch.nn.functional as F
from torch import nn

dev="cuda"
w1=torch.randn(40,1,device=dev,requires_grad=True); b1=torch.zeros(40,device=dev,requires_grad=True)
w2=torch.randn(1,40,device=dev,requires_grad=True); b2=torch.zeros(1,device=dev,requires_grad=True)
params=[w1,b1,w2,b2]
opt=torch.optim.Adam(params,1e-3)
def f(x,p): return F.linear(F.relu(F.linear(x,p[0],p[1])),p[2],p[3])
for it in range(2):
    total=0
    for task in range(2):
        x=torch.randn(10,1,device=dev); y=torch.randn(10,1,device=dev)
        fast=params
        for k in range(2):
            loss=F.mse_loss(f(x,fast),y)
            gs=torch.autograd.grad(loss,fast,create_graph=True)
            fast=[p-0.01*g for p,g in zip(fast,gs)]
        total=total+F.mse_loss(f(x,fast),y)
    opt.zero_grad(); total.backward(); opt.step()
