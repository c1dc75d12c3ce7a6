class ChunkedCrossEntropy(torch.autograd.Function):
    """Cross entropy of a few rows at a time. Its gradient is made with it, row by row."""

    @staticmethod
    def forward(ctx, logits, targets, ignore_index):
        rows = max(1, 2**26 // logits.size(1))
        grad = torch.empty_like(logits)
        count = (targets != ignore_index).sum()
        total = torch.zeros((), device=logits.device)
        for part, target, out in zip(logits.split(rows), targets.split(rows), grad.split(rows)):
            scores = part.float().log_softmax(1)
            total += torch.nn.functional.nll_loss(
                scores, target, ignore_index=ignore_index, reduction="sum")
            kept = target != ignore_index
            scores.exp_()
            scores.scatter_add_(
                1, torch.where(kept, target, 0)[:, None], torch.full_like(scores[:, :1], -1))
            out.copy_(scores.mul_(kept[:, None]).div_(count))
            del scores
        ctx.save_for_backward(grad)
        return total / count

    @staticmethod
    def backward(ctx, loss_grad):
        (grad,) = ctx.saved_tensors
        return grad * loss_grad, None, None


def chunked_cross_entropy(logits, targets, ignore_index=-100):
    if logits.dim() != 2 or targets.dim() != 1:
        return torch.nn.functional.cross_entropy(logits, targets, ignore_index=ignore_index)
    return ChunkedCrossEntropy.apply(logits, targets, ignore_index)


class ChunkedLoss(torch.nn.Module):
    def __init__(self, ignore_index=-100):
        super().__init__()
        self.ignore_index = ignore_index

    def forward(self, logits, targets):
        return chunked_cross_entropy(logits, targets, self.ignore_index)
