import torch
import torch._C as _C


def _moved(data, dtype, device):
    """Source: internal_new_from_data: a tensor is taken as it is where it fits."""
    if isinstance(data, torch.Tensor):
        return data.to(device=device if device is not None else data.device, dtype=dtype or data.dtype)
    return torch.tensor(data, dtype=dtype, device=device)


def sparse_coo_tensor(
    indices, values, size=None, *, dtype=None, device=None, pin_memory=False, requires_grad=False,
    check_invariants=None, is_coalesced=None
):
    values = _moved(values, dtype, device)
    indices = _moved(indices, torch.int64, values.device)
    if size is None:
        rows = None if indices.is_cuda else [_C.known_integers(row) for row in indices]
        if rows is None or any(row is None for row in rows):
            _C.refuse("sparse_coo_tensor without a size is not modelled where its indices' values are not known",
                      "give the size")
        size = [max(row, default=-1) + 1 for row in rows]
    result = torch._sparse_coo(indices, values, list(size))
    return result.requires_grad_() if requires_grad else result
