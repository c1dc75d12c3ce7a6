# A loss on the gradients of all weights, through convolutions, pooling and cross_entropy.
import torch
import torch.nn.functional as F
from torch import nn

dev="cuda"
D=nn.Sequential(nn.Conv2d(3,16,3,1,1),nn.ReLU(),nn.MaxPool2d(2),nn.Conv2d(16,32,3,1,1),nn.Tanh(),nn.AvgPool2d(2),nn.Flatten(),nn.Linear(32*8*8,10)).to(dev)
opt=torch.optim.SGD(D.parameters(),0.1)
x=torch.randn(8,3,32,32,device=dev); y=torch.randint(0,10,(8,),device=dev)
for i in range(2):
    loss=F.cross_entropy(D(x),y)
    gs=torch.autograd.grad(loss,list(D.parameters()),create_graph=True)
    pen=sum(g.pow(2).sum() for g in gs)
    opt.zero_grad()
    (loss+0.1*pen).backward()
    opt.step()
    del loss,gs,pen
