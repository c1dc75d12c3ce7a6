import torch
from torch import nn
class M(nn.Module):
    def __init__(s): super().__init__(); s.a=nn.Linear(64,128); s.r=nn.ReLU(); s.b=nn.Linear(128,32)
    def forward(s,x): return {"out":s.b(s.r(s.a(x)))}
m=M().cuda(); seen=[]
def hook(mod,gi,go): seen.append((type(mod).__name__,[None if g is None else tuple(g.shape) for g in gi],[tuple(g.shape) for g in go]))
kept={}
h1=m.a.register_backward_hook(hook); h2=m.r.register_backward_hook(lambda mod,gi,go: (gi[0]*2,)); h3=m.b.register_backward_hook(hook); h4=m.register_backward_hook(lambda mod,gi,go: kept.update(g=go[0]))
try: m.a.register_full_backward_hook(hook)
except RuntimeError as e: print(e)
o=torch.optim.SGD(m.parameters(),.1)
for i in range(3):
    l=m(torch.randn(16,64,device="cuda"))["out"].pow(2).mean(); l.backward(); o.step(); o.zero_grad()
    if i==1: h3.remove(); h2.remove()
print(seen)
