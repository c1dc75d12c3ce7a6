# What LAPACK finds has its sizes and strides, and what a drawn distribution leaves of chance.
import torch
for shape in ((5,3),(3,5),(2,5,3)):
    a=torch.randn(shape)
    for m in ("reduced","complete","r"):
        q,r=torch.linalg.qr(a,m); print(shape,m,list(q.shape),q.stride(),list(r.shape),r.stride(), q.is_contiguous())
    for f in (True,False):
        u,s,v=torch.linalg.svd(a,full_matrices=f); print(shape,f,list(u.shape),u.stride(),s.stride(),list(v.shape),v.stride())
    print(torch.linalg.svdvals(a).shape, torch.svd(a)[2].stride(), torch.svd(a)[2].shape, [list(x.shape) for x in torch.svd(a, compute_uv=False)])
    print(torch.linalg.pinv(a).shape, torch.linalg.pinv(a).stride())
a=torch.randn(4,9); a=a@a.mT
w,v=torch.linalg.eigh(a); print(w.shape,v.stride(), torch.linalg.eigvalsh(a).shape)
L,i=torch.linalg.cholesky_ex(a); print(L.stride(), i.dtype, i.shape, i.item())
print(torch.qr(a).Q.shape, torch.linalg.svd(a).Vh.shape)
from torch.distributions import constraints, MultivariateNormal
print(constraints.positive_definite.check(a).item(), constraints.square.check(torch.ones(2, 3, 4)).tolist(), constraints.positive_definite.check(torch.ones(2, 3, 4)).tolist())
torch.manual_seed(3)
m = MultivariateNormal(torch.zeros(3), torch.eye(3))
x = m.sample((2,)); print(x.shape, m.log_prob(x).shape, m.entropy().shape, m.variance.shape, m.scale_tril.shape)
print(torch.randint(0, 1000, (3,)).tolist())
m = MultivariateNormal(torch.zeros(5, 3), scale_tril=torch.eye(3)).expand((4, 5))
print(m.log_prob(m.rsample((2,))).shape, m.covariance_matrix.shape, m.batch_shape, m.event_shape, m.mean.shape)
class M(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.d = torch.nn.ModuleDict({"a": torch.nn.Linear(1, 1), "b": torch.nn.Linear(1, 1)})
# A module's tables beside sets.
s = {"c"}
s |= M().d.keys()
print(sorted(s), sorted({"a", "z"} & M().d.keys()), sorted({"a", "z"} ^ M().d.keys()), sorted({"a", "z"} - M().d.keys()))
for tall in (torch.randn(20, 8), torch.randn(8, 20), torch.randn(3, 12, 6)):
    u, s, v = torch.svd_lowrank(tall, q=4, niter=3)
    print("svd_lowrank", u.shape, s.shape, v.shape)
u, s, v = torch.pca_lowrank(torch.randn(12, 9))
print("pca_lowrank", u.shape, s.shape, v.shape, torch.pca_lowrank(torch.randn(12, 4), center=False)[0].shape)
print("and the generator stands where it does then", torch.randint(1000, ()).item())
