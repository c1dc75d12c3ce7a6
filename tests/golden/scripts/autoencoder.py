import copy
from collections import namedtuple
from functools import partial
from itertools import chain, islice
import torch
from torch import nn, optim
from torch.nn import functional as F
Out = namedtuple("Out", "recon mu logvar")
class VAE(nn.Module):
    def __init__(self, hidden=[400, 200], latent=20, act=nn.SiLU):
        super(VAE, self).__init__()
        dims = [784] + hidden
        self.encoder = nn.Sequential(*chain.from_iterable((nn.Linear(a, b), act()) for a, b in zip(dims[:-1], dims[1:])))
        self.fc_mu, self.fc_var = nn.Linear(hidden[-1], latent), nn.Linear(hidden[-1], latent)
        rev = [latent] + hidden[::-1]
        self.decoder = nn.Sequential(*[m for a, b in zip(rev, rev[1:]) for m in (nn.Linear(a, b), act())], nn.Linear(rev[-1], 784))
        self.register_buffer("prior", torch.zeros(latent), persistent=False)
    def reparameterize(self, mu, logvar):
        std = torch.exp(0.5 * logvar)
        eps = torch.randn_like(std)
        return mu + eps * std
    def forward(self, x):
        h = self.encoder(x.view(-1, 784))
        mu, logvar = self.fc_mu(h), self.fc_var(h)
        z = self.reparameterize(mu, logvar)
        return Out(torch.sigmoid(self.decoder(z)), mu, logvar)
def loss_function(o, x, beta=1.0):
    BCE = F.binary_cross_entropy(o.recon, x.view(-1, 784), reduction='sum')
    KLD = -0.5 * torch.sum(1 + o.logvar - o.mu.pow(2) - o.logvar.exp())
    return BCE + beta * KLD, {"bce": BCE.item(), "kld": KLD.item()}
class EMA:
    def __init__(self, model, decay):
        self.decay = decay
        self.shadow = {n: p.clone().detach() for n, p in model.named_parameters() if p.requires_grad}
    @torch.no_grad()
    def update(self, model):
        for n, p in model.named_parameters():
            if p.requires_grad:
                self.shadow[n].mul_(self.decay).add_(p.data, alpha=1 - self.decay)
device = torch.device("cuda")
model = VAE().to(device)
teacher = copy.deepcopy(model).eval().requires_grad_(False)
ema = EMA(model, 0.999)
optimizer = optim.RMSprop(model.parameters(), lr=1e-3, alpha=0.9)
sched = optim.lr_scheduler.LambdaLR(optimizer, lr_lambda=lambda s: min(1.0, (s + 1) / 10))
def batches(n, bs):
    i = 0
    while i < n:
        yield torch.rand(min(bs, n - i), 1, 28, 28)
        i += bs
step_fn = partial(loss_function, beta=0.5)
for epoch in range(2):
    total = 0.0
    for i, x in enumerate(islice(batches(300, 128), None)):
        x = x.to(device)
        o = model(x)
        with torch.no_grad():
            t = teacher(x)
        loss, parts = step_fn(o, x)
        loss = loss + F.mse_loss(o.mu, t.mu)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        sched.step()
        ema.update(model)
        total += loss.item() / len(x)
    print(f"====> Epoch: {epoch} Average loss: {'ok' if total >= 0 else 'bad'}", {k: type(v).__name__ for k, v in sorted(parts.items())})
model.eval()
with torch.inference_mode():
    sample = model.decoder(torch.randn(64, 20, device=device)).cpu()
try:
    assert sample.shape == (64, 784), "shape"
    raise ValueError("done")
except (ValueError, KeyError) as e:
    print("caught", e)
finally:
    del sample
