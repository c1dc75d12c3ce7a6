import torch


def Variable(data, requires_grad=False, volatile=None):
    out = data.detach() if isinstance(data, torch.Tensor) else torch.tensor(data)
    return out.requires_grad_(True) if requires_grad else out
