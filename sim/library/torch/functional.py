import torch
import torch._C as _C
from torch._refs.composites import _max


def tensordot(a, b, dims=2):
    if isinstance(dims, (tuple, list)):
        dims_a, dims_b = dims
        dims_a = [dims_a] if not isinstance(dims_a, (tuple, list)) else list(dims_a)
        dims_b = [dims_b] if not isinstance(dims_b, (tuple, list)) else list(dims_b)
    else:
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        dims_a = list(range(-dims, 0))
        dims_b = list(range(dims))
    return torch._tensordot(a, b, dims_a, dims_b)


def chain_matmul(*matrices):
    return torch.linalg.multi_dot(matrices)


def broadcast_shapes(*shapes):
    shapes = [(shape,) if not isinstance(shape, (tuple, list)) else tuple(shape) for shape in shapes]
    rank = _max([len(shape) for shape in shapes], default=0)
    out = [1] * rank
    for shape in shapes:
        for i in range(-1, -1 - len(shape), -1):
            if shape[i] == 1 or shape[i] == out[i]:
                continue
            if out[i] != 1:
                raise RuntimeError("Shape mismatch: objects cannot be broadcast to a single shape")
            out[i] = shape[i]
    return torch.Size(out)


def cartesian_prod(*tensors):
    if len(tensors) == 1:
        return tensors[0]
    grids = [grid.flatten() for grid in torch.meshgrid(*tensors, indexing="ij")]
    out = torch.stack(grids, 1)
    while grids:
        grids.pop(0)
    return out


def _widened(window, win_length, n_fft, like):
    """a short window in the middle of zeros"""
    wide = torch.zeros(n_fft, dtype=like.dtype, device=like.device)
    middle = wide.narrow(0, (n_fft - win_length) // 2, win_length)
    if window is None:
        middle.fill_(1)
    else:
        middle.copy_(window)
    return wide


def stft(input, n_fft, hop_length=None, win_length=None, window=None, center=True, pad_mode="reflect", normalized=False,
         onesided=None, return_complex=None, align_to_window=None):
    if return_complex is None and not input.is_complex():
        raise RuntimeError(
            "stft requires the return_complex parameter be given for real inputs, and will further require that "
            "return_complex=True in a future PyTorch release."
        )
    if center:
        signal_dim = input.dim()
        extended_shape = [1] * (3 - signal_dim) + list(input.size())
        pad = n_fft // 2
        input = torch.nn.functional.pad(input.view(extended_shape), [pad, pad], pad_mode)
        input = input.view(input.shape[-signal_dim:])
    win_length = n_fft if win_length is None else win_length
    if window is not None and (window.dim() != 1 or window.size(0) != win_length):
        raise RuntimeError(
            f"stft: expected a 1D window tensor of size equal to win_length={win_length}, but got window with size "
            f"{list(window.shape)}"
        )
    return _stft(
        input, n_fft, n_fft // 4 if hop_length is None else hop_length, win_length, window, onesided, return_complex
    )


def _stft(input, n_fft, hop, win_length, window, onesided, return_complex):
    is_batched = input.dim() == 2
    if not is_batched:
        input = input.unsqueeze(0)
    if win_length < n_fft:
        window = _widened(window, win_length, n_fft, input if window is None else window)
    frames = 1 + (input.size(1) - n_fft) // hop
    input = input.as_strided((input.size(0), frames, n_fft), (input.stride(0), hop * input.stride(1), input.stride(1)))
    if window is not None:
        input = input.mul(window)
    if input.is_complex():
        out = torch._fft_c2c(input, [2])
    else:
        out = torch._fft_r2c(input, [2], onesided is None or onesided)
    del window
    out.transpose_(1, 2)
    if not is_batched:
        out.squeeze_(0)
    return out if return_complex is None or return_complex else torch.view_as_real(out)


_in_order = sorted


def _made_of(input, name, groups, return_inverse, return_counts, dim):
    """groups: each number that is kept, with the places of the input that it stands for; None where numbers are
    not known"""
    if groups is None:
        if return_inverse or return_counts or dim is not None:
            _C.refuse(f"{name} with return_inverse, return_counts or dim is not modelled", "leave them out")
        return None
    out = torch.tensor([value for value, _ in groups], dtype=input.dtype)
    if not (return_inverse or return_counts):
        return out
    made = [out]
    if return_inverse:
        inverse = [0] * input.numel()
        for i, (_, places) in enumerate(groups):
            for place in places:
                inverse[place] = i
        made.append(torch.tensor(inverse).view(input.shape))
    if return_counts:
        made.append(torch.tensor([len(places) for _, places in groups]))
    return tuple(made)


def _numbers(input, dim):
    """of a tensor on the host whose numbers are known; a row may be taken along its only dimension"""
    if (
        input.is_cuda
        or input.numel() == 0
        or (dim is not None and input.dim() != 1)
        or _C.known_integers(input) is None
    ):
        return None
    return input.flatten().tolist()


def unique(input, sorted=True, return_inverse=False, return_counts=False, dim=None):
    numbers, groups = _numbers(input, dim), None
    if numbers is not None:
        places = {}
        for i, value in enumerate(numbers):
            places.setdefault(value, []).append(i)
        groups = [(value, places[value]) for value in _in_order(places)]
    out = _made_of(input, "unique", groups, return_inverse, return_counts, dim)
    return torch._unique(input) if out is None else out


def unique_consecutive(input, return_inverse=False, return_counts=False, dim=None):
    numbers, groups = _numbers(input, dim), None
    if numbers is not None:
        groups = []
        for i, value in enumerate(numbers):
            if not groups or groups[-1][0] != value:
                groups.append((value, []))
            groups[-1][1].append(i)
    out = _made_of(input, "unique_consecutive", groups, return_inverse, return_counts, dim)
    return torch._unique_consecutive(input) if out is None else out
