import copy, math
import torch
from torch import nn
import torch.nn.functional as F
from functools import wraps
def singleton(cache_key):
    def inner_fn(fn):
        @wraps(fn)
        def wrapper(self, *args, **kwargs):
            instance = getattr(self, cache_key)
            if instance is not None:
                return instance
            instance = fn(self, *args, **kwargs)
            setattr(self, cache_key, instance)
            return instance
        return wrapper
    return inner_fn
def get_module_device(module):
    return next(module.parameters()).device
def set_requires_grad(model, val):
    for p in model.parameters():
        p.requires_grad = val
def loss_fn(x, y):
    x = F.normalize(x, dim=-1, p=2)
    y = F.normalize(y, dim=-1, p=2)
    return 2 - 2 * (x * y).sum(dim=-1)
class EMA():
    def __init__(self, beta):
        super().__init__()
        self.beta = beta
    def update_average(self, old, new):
        if old is None:
            return new
        return old * self.beta + (1 - self.beta) * new
def update_moving_average(ema_updater, ma_model, current_model):
    for current_params, ma_params in zip(current_model.parameters(), ma_model.parameters()):
        old_weight, up_weight = ma_params.data, current_params.data
        ma_params.data = ema_updater.update_average(old_weight, up_weight)
def MLP(dim, projection_size, hidden_size=64):
    return nn.Sequential(nn.Linear(dim, hidden_size), nn.BatchNorm1d(hidden_size), nn.ReLU(inplace=True), nn.Linear(hidden_size, projection_size))
class NetWrapper(nn.Module):
    def __init__(self, net, projection_size, projection_hidden_size, layer=-2):
        super().__init__()
        self.net = net
        self.layer = layer
        self.projector = None
        self.projection_size = projection_size
        self.projection_hidden_size = projection_hidden_size
        self.hidden = {}
        self.hook_registered = False
    def _find_layer(self):
        if type(self.layer) == str:
            modules = dict([*self.net.named_modules()])
            return modules.get(self.layer, None)
        elif type(self.layer) == int:
            children = [*self.net.children()]
            return children[self.layer]
        return None
    def _hook(self, _, input, output):
        device = input[0].device
        self.hidden[device] = output.reshape(output.shape[0], -1)
    def _register_hook(self):
        layer = self._find_layer()
        assert layer is not None, f'hidden layer ({self.layer}) not found'
        handle = layer.register_forward_hook(self._hook)
        self.hook_registered = True
    @singleton('projector')
    def _get_projector(self, hidden):
        _, dim = hidden.shape
        projector = MLP(dim, self.projection_size, self.projection_hidden_size)
        return projector.to(hidden)
    def get_representation(self, x):
        if self.layer == -1:
            return self.net(x)
        if not self.hook_registered:
            self._register_hook()
        self.hidden.clear()
        _ = self.net(x)
        hidden = self.hidden[x.device]
        self.hidden.clear()
        assert hidden is not None, f'hidden layer {self.layer} never emitted an output'
        return hidden
    def forward(self, x, return_projection=True):
        representation = self.get_representation(x)
        if not return_projection:
            return representation
        projector = self._get_projector(representation)
        projection = projector(representation)
        return projection, representation
class RandomApply(nn.Module):
    def __init__(self, fn, p):
        super().__init__()
        self.fn, self.p = fn, p
    def forward(self, x):
        return self.fn(x)
class BYOL(nn.Module):
    def __init__(self, net, image_size, hidden_layer=-2, projection_size=32, projection_hidden_size=64, moving_average_decay=0.99, use_momentum=True):
        super().__init__()
        self.net = net
        self.online_encoder = NetWrapper(net, projection_size, projection_hidden_size, layer=hidden_layer)
        self.use_momentum = use_momentum
        self.target_encoder = None
        self.target_ema_updater = EMA(moving_average_decay)
        self.online_predictor = MLP(projection_size, projection_size, projection_hidden_size)
        device = get_module_device(net)
        self.to(device)
        self.forward(torch.randn(2, 3, image_size, image_size, device=device))
    @singleton('target_encoder')
    def _get_target_encoder(self):
        target_encoder = copy.deepcopy(self.online_encoder)
        set_requires_grad(target_encoder, False)
        return target_encoder
    def update_moving_average(self):
        assert self.use_momentum
        update_moving_average(self.target_ema_updater, self.target_encoder, self.online_encoder)
    def forward(self, x, return_embedding=False, return_projection=True):
        assert not (self.training and x.shape[0] == 1), 'you must have greater than 1 sample when training, due to the batchnorm in the projection layer'
        if return_embedding:
            return self.online_encoder(x, return_projection=return_projection)
        image_one, image_two = x, torch.flip(x, dims=(3,))
        images = torch.cat((image_one, image_two), dim=0)
        online_projections, _ = self.online_encoder(images)
        online_predictions = self.online_predictor(online_projections)
        online_pred_one, online_pred_two = online_predictions.chunk(2, dim=0)
        with torch.no_grad():
            target_encoder = self._get_target_encoder() if self.use_momentum else self.online_encoder
            target_projections, _ = target_encoder(images)
            target_projections = target_projections.detach()
            target_proj_one, target_proj_two = target_projections.chunk(2, dim=0)
        loss_one = loss_fn(online_pred_one, target_proj_two.detach())
        loss_two = loss_fn(online_pred_two, target_proj_one.detach())
        loss = loss_one + loss_two
        return loss.mean()
net = nn.Sequential()
net.add_module('c1', nn.Conv2d(3, 16, 3, 2, 1)); net.add_module('bn', nn.BatchNorm2d(16)); net.add_module('r', nn.ReLU())
net.add_module('avgpool', nn.AdaptiveAvgPool2d(1)); net.add_module('flat', nn.Flatten()); net.add_module('fc', nn.Linear(16, 10))
learner = BYOL(net.cuda(), 32, hidden_layer='avgpool')
opt = torch.optim.Adam(learner.parameters(), lr=3e-4)
for _ in range(3):
    images = torch.randn(8, 3, 32, 32).cuda()
    loss = learner(images)
    opt.zero_grad(); loss.backward(); opt.step()
    learner.update_moving_average()
class NTXent(nn.Module):
    def __init__(self, n, temp):
        super().__init__()
        self.n, self.temp = n, temp
        self.mask = self.mask_correlated_samples(n)
        self.criterion = nn.CrossEntropyLoss(reduction="sum")
        self.similarity_f = nn.CosineSimilarity(dim=2)
    def mask_correlated_samples(self, n):
        N = 2 * n
        mask = torch.ones((N, N), dtype=bool)
        mask = mask.fill_diagonal_(0)
        for i in range(n):
            mask[i, n + i] = 0
            mask[n + i, i] = 0
        return mask
    def forward(self, z_i, z_j):
        N = 2 * self.n
        z = torch.cat((z_i, z_j), dim=0)
        sim = self.similarity_f(z.unsqueeze(1), z.unsqueeze(0)) / self.temp
        sim_i_j = torch.diag(sim, self.n)
        sim_j_i = torch.diag(sim, -self.n)
        positive = torch.cat((sim_i_j, sim_j_i), dim=0).reshape(N, 1)
        negative = sim[self.mask].reshape(N, -1)
        labels = torch.zeros(N).to(positive.device).long()
        logits = torch.cat((positive, negative), dim=1)
        loss = self.criterion(logits, labels)
        loss /= N
        return loss
def info_nce(features, n, temperature=0.07):
    labels = torch.cat([torch.arange(n) for i in range(2)], dim=0)
    labels = (labels.unsqueeze(0) == labels.unsqueeze(1)).float()
    labels = labels.cuda()
    features = F.normalize(features, dim=1)
    sim = torch.matmul(features, features.T)
    mask = torch.eye(labels.shape[0], dtype=torch.bool).cuda()
    labels = labels.masked_fill(mask, 0)
    sim = sim.masked_fill(mask, -1e9)
    return -(labels * F.log_softmax(sim / temperature, 1)).sum(1).mean()
enc = nn.Sequential(nn.Flatten(), nn.Linear(192, 64), nn.ReLU(), nn.Linear(64, 32)).cuda()
swa_model = torch.optim.swa_utils.AveragedModel(enc)
opt = torch.optim.SGD(enc.parameters(), lr=0.1, momentum=0.9)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=100)
swa_scheduler = torch.optim.swa_utils.SWALR(opt, swa_lr=0.05, anneal_epochs=2)
for epoch in range(4):
    x1, x2 = torch.randn(8, 3, 8, 8).cuda(), torch.randn(8, 3, 8, 8).cuda()
    loss = info_nce(enc(torch.cat([x1, x2], dim=0)), 8)
    opt.zero_grad(); loss.backward(); opt.step()
    if epoch > 1:
        swa_model.update_parameters(enc)
        swa_scheduler.step()
    else:
        scheduler.step()
torch.optim.swa_utils.update_bn([torch.zeros(4, 3, 8, 8)], swa_model, device='cuda')
