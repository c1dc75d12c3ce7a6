"""What the zoo's models share. A `Workload` joins a model with the batch that feeds it and the loss that ends it, so that one loop can run
all of them.

    WORKLOADS["resnet18"].build(num_classes=1000)            -> nn.Module, on the host
    WORKLOADS["resnet18"].host_batch(8, image=224)           -> [x, y], host tensors, the last one is the target
    WORKLOADS["resnet18"].loss(model(x), y)                  -> 0-dim tensor

Models with a `blocks` list have a switch `checkpoint_mode` (None, "every-block", "every-2", "reentrant"): a class attribute that
`run_blocks` heeds. Models without it cannot be checkpointed by `train.checkpoint`.
Values never matter here (the goldens hold memory events, not numbers), so batches are zeros.
"""
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

WORKLOADS = {}


class Workload:
    """a model, its batch and its loss"""

    def __init__(self, name, build, host_batch, loss, defaults, needs=()):
        self.name, self._build, self._batch, self.loss = name, build, host_batch, loss
        self.defaults = defaults      # model arguments; `batch`, `image`, `seq` are the batch's
        self.needs = needs            # "no-cudnn": cuDNN is switched off for it

    def arguments(self, given):
        unknown = set(given) - set(self.defaults)
        if unknown:
            raise SystemExit("%s has no argument %s; it has %s" % (self.name, ", ".join(sorted(unknown)), self.defaults))
        return {**self.defaults, **given}

    def build(self, **given):
        return self._build(**{k: v for k, v in self.arguments(given).items() if k not in ("batch", "image", "seq")})

    def host_batch(self, batch, image=None, seq=None, **given):
        return self._batch(batch, image or self.defaults.get("image"), seq or self.defaults.get("seq"), self.arguments(given))


def workload(name, host_batch, loss, needs=(), **defaults):
    def register(build):
        WORKLOADS[name] = Workload(name, build, host_batch, loss, defaults, needs)
        return build
    return register


def run_blocks(model, x, *extra):
    """the blocks one after another, as model.checkpoint_mode says"""
    mode = model.checkpoint_mode
    for i, block in enumerate(model.blocks):
        if mode and torch.is_grad_enabled() and (mode != "every-2" or i % 2 == 0):
            x = checkpoint(block, x, *extra, use_reentrant=mode == "reentrant")
        else:
            x = block(x, *extra)
    return x


# ---- batches and losses --------------------------------------------------------------------------------------------

def images(batch, image, seq, a):
    return [torch.zeros(batch, a.get("channels", 3), image, image), torch.zeros(batch, dtype=torch.long)]


def vectors(batch, image, seq, a):
    return [torch.zeros(batch, a["inputs"]), torch.zeros(batch, dtype=torch.long)]


def reconstruct_vectors(batch, image, seq, a):
    x = torch.zeros(batch, a["inputs"])
    return [x, x]


def tokens(batch, image, seq, a):
    return [torch.zeros(batch, seq, dtype=torch.long), torch.zeros(batch, seq, dtype=torch.long)]


def masked_tokens(batch, image, seq, a):
    return [torch.zeros(batch, seq, dtype=torch.long), torch.ones(batch, seq, dtype=torch.long), torch.zeros(batch, seq, dtype=torch.long)]


def token_pairs(batch, image, seq, a):
    return [torch.zeros(batch, seq, dtype=torch.long), torch.zeros(batch, seq // 2, dtype=torch.long), torch.zeros(batch, seq // 2, dtype=torch.long)]


def class_loss(out, y):
    return F.cross_entropy(out, y)


def token_loss(out, y):
    return F.cross_entropy(out.view(-1, out.size(-1)), y.view(-1))


def token_loss_fp32(out, y):
    return F.cross_entropy(out.float().view(-1, out.size(-1)), y.view(-1))


def mse(out, y):
    return F.mse_loss(out, y)
