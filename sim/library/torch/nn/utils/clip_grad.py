import torch


def _listed(parameters):
    return [parameters] if isinstance(parameters, torch.Tensor) else list(parameters)


def _groups(tensors):
    groups = {}
    for t in tensors:
        groups.setdefault((t.device, t.dtype), []).append(t)
    return {key: groups[key] for key in reversed(groups)}  # in the order of PyTorch's table


def get_total_norm(tensors, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    tensors = _listed(tensors)
    return _total_norm(tensors, norm_type, error_if_nonfinite, foreach, [])


def _total_norm(tensors, norm_type, error_if_nonfinite, foreach, norms):
    if len(tensors) == 0:
        return torch.tensor(0.0)
    first_device = tensors[0].device
    for (device, dtype), group in _groups(tensors).items():
        if (foreach is None and device.type == "cuda") or foreach:
            norms.extend(torch._foreach_norm(group, norm_type))
        else:
            norms.extend([torch.linalg.vector_norm(g, norm_type) for g in group])
    total_norm = torch.linalg.vector_norm(torch.stack([norm.to(first_device) for norm in norms]), norm_type)
    if error_if_nonfinite:  # gradients are finite here
        torch.logical_or(total_norm.isnan(), total_norm.isinf())
    return total_norm


def _scale_grads(grads, max_norm, total_norm, foreach):
    clip_coef = max_norm / (total_norm + 1e-6)
    clip_coef_clamped = torch.clamp(clip_coef, max=1.0)
    for (device, dtype), group in _groups(grads).items():
        if (foreach is None and device.type == "cuda") or foreach:
            torch._foreach_mul_(group, clip_coef_clamped.to(device))
        else:
            clip_coef_clamped_device = clip_coef_clamped.to(device)
            for g in group:
                g.mul_(clip_coef_clamped_device)
    return clip_coef, clip_coef_clamped


def clip_grads_with_norm_(parameters, max_norm, total_norm, foreach=None):
    grads = [p.grad for p in _listed(parameters) if p.grad is not None]
    if len(grads) == 0:
        return
    clip_coef, clip_coef_clamped = _scale_grads(grads, max_norm, total_norm, foreach)


@torch.no_grad()
def clip_grad_norm_(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    parameters = _listed(parameters)
    grads = [p.grad for p in parameters if p.grad is not None]
    if torch._C.release_rule("clip_grad_norm_drops_norms_first"):
        total_norm = get_total_norm(grads, norm_type, error_if_nonfinite, foreach)
        clip_grads_with_norm_(parameters, max_norm, total_norm, foreach)
        return total_norm
    norms = []
    total_norm = _total_norm(grads, norm_type, error_if_nonfinite, foreach, norms)
    if len(grads) > 0:
        clip_coef, clip_coef_clamped = _scale_grads(grads, max_norm, total_norm, foreach)
    return total_norm


@torch.no_grad()
def clip_grad_value_(parameters, clip_value, foreach=None):
    grads = [p.grad for p in _listed(parameters) if p.grad is not None]
    for (device, dtype), group in _groups(grads).items():
        if (foreach is None and device.type == "cuda") or foreach:
            torch._foreach_clamp_min_(group, -clip_value)
            torch._foreach_clamp_max_(group, clip_value)
        else:
            for grad in group:
                grad.clamp_(min=-clip_value, max=clip_value)
