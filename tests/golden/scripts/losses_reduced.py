"""Every loss, reduced in every way, with and without autocast, and its gradients."""
import torch
import torch.nn.functional as F

torch.manual_seed(0)
d = "cuda"


def made(*sizes, dtype=torch.float32):
    return torch.randn(*sizes, device=d, dtype=dtype, requires_grad=True)


def both(loss, *inputs):
    (loss if loss.dim() == 0 else loss.sum()).backward()
    del loss
    for each in inputs:
        each.grad = None


for reduction in ("none", "mean", "sum"):
    for cast in (False, True):
        for dtype in (torch.float32, torch.bfloat16):
            with torch.autocast(d, dtype=torch.bfloat16, enabled=cast):
                x, y = made(64, 300, dtype=dtype), made(64, 300, dtype=dtype)
                narrow = made(1, 300, dtype=dtype)
                for f in (F.mse_loss, F.l1_loss, F.smooth_l1_loss, F.huber_loss):
                    both(f(x, y, reduction=reduction), x, y)
                    both(f(x, narrow, reduction=reduction), x, narrow)
                both(F.smooth_l1_loss(x, y, reduction=reduction, beta=0.0), x, y)
                t = torch.rand(64, 300, device=d, dtype=dtype)
                w = torch.rand(300, device=d, dtype=dtype)
                both(F.binary_cross_entropy_with_logits(x, t, reduction=reduction), x)
                both(F.binary_cross_entropy_with_logits(x, t, w, reduction=reduction, pos_weight=w), x)
                if not cast:
                    both(F.binary_cross_entropy(x.sigmoid(), t, w, reduction=reduction), x)
                both(F.soft_margin_loss(x, t, reduction=reduction), x)
                both(F.kl_div(x.log_softmax(1), t, reduction=reduction), x)
                both(F.kl_div(x.log_softmax(1), t.log(), reduction=reduction, log_target=True), x)
                both(F.poisson_nll_loss(x, t, full=True, reduction=reduction), x)
                both(F.poisson_nll_loss(x, t, log_input=False, reduction=reduction), x)
                s = torch.ones(64, device=d)
                z = made(64, 300, dtype=dtype)
                both(F.triplet_margin_loss(x, y, z, swap=True, reduction=reduction), x, y, z)
                both(F.triplet_margin_loss(x, y, z, p=1, reduction=reduction), x, y, z)
                both(F.cosine_embedding_loss(x, y, s, margin=0.2, reduction=reduction), x, y)
                both(F.margin_ranking_loss(x, y, t, margin=0.1, reduction=reduction), x, y)
                both(F.hinge_embedding_loss(x, t, reduction=reduction), x)
                both(F.pairwise_distance(x, y), x, y)
