import torch


def _window(length, periodic, dtype, device, requires_grad):
    """a periodic window is one of a length more, without its last value"""
    if not periodic or length < 2:
        return torch.empty(length, dtype=dtype, device=device, requires_grad=requires_grad)
    return torch.empty(length + 1, dtype=dtype, device=device).narrow(0, 0, length).requires_grad_(requires_grad)


def hann_window(
    window_length, periodic=True, *, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False
):
    return _window(window_length, periodic, dtype, device, requires_grad)


def hamming_window(window_length, periodic=True, alpha=0.54, beta=0.46, *, dtype=None, layout=None, device=None,
                   requires_grad=False, pin_memory=False):
    return _window(window_length, periodic, dtype, device, requires_grad)


def _cut(window, periodic, requires_grad):
    """a periodic window was made of a length more"""
    if periodic:
        window = window.narrow(0, 0, window.size(0) - 1)
    return window.requires_grad_(requires_grad)


def _of_range(length, periodic, dtype, device, requires_grad, shape):
    """windows whose values come from their places; Source: ATen's TensorFactories.cpp"""
    dtype = torch.get_default_dtype() if dtype is None else dtype
    if length < 2:
        return torch.empty(length, dtype=dtype, device=device, requires_grad=requires_grad)
    return _cut(shape(torch.arange(length + periodic, dtype=dtype, device=device)), periodic, requires_grad)


def kaiser_window(
    window_length,
    periodic=True,
    beta=12.0,
    *,
    dtype=None,
    layout=None,
    device=None,
    requires_grad=False,
    pin_memory=False,
):
    return _of_range(window_length, periodic, dtype, device, requires_grad, torch.empty_like)


def bartlett_window(
    window_length, periodic=True, *, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False
):
    return _of_range(window_length, periodic, dtype, device, requires_grad, lambda places: places)


def _blackman(places):
    fine = places.mul(4)
    coarse = places.mul(2)
    difference = fine - coarse
    window = difference + 0.42
    del places, difference, coarse, fine
    return window


def blackman_window(
    window_length, periodic=True, *, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False
):
    return _of_range(window_length, periodic, dtype, device, requires_grad, _blackman)


def istft(
    input,
    n_fft,
    hop_length=None,
    win_length=None,
    window=None,
    center=True,
    normalized=False,
    onesided=None,
    length=None,
    return_complex=False,
):
    if not input.is_complex():
        raise RuntimeError(
            "istft requires a complex-valued input tensor matching the output from stft with return_complex=True."
        )
    if return_complex:
        torch._C.refuse("istft with return_complex=True is not modelled", "take the real signal")
    hop = n_fft // 4 if hop_length is None else hop_length
    win_length = n_fft if win_length is None else win_length
    parts = torch.view_as_real(input)
    is_batched = parts.dim() == 4
    frames, fft_size = parts.size(-2), parts.size(-3)
    total = n_fft + hop * (frames - 1)
    onesided = fft_size != n_fft if onesided is None else onesided
    if window is None:
        window = torch.ones(win_length, dtype=parts.dtype, device=parts.device)
    if win_length != n_fft:
        left = (n_fft - win_length) // 2
        window = torch.constant_pad_nd(window, [left, n_fft - win_length - left], 0)
    if not is_batched:
        parts = parts.unsqueeze(0)
    signal = torch.view_as_complex(parts.transpose(1, 2))
    del parts
    if not onesided:
        signal = signal.narrow(-1, 0, n_fft // 2 + 1)
    signal = torch._fft_c2r(signal, [signal.dim() - 1], n_fft)
    windowed = signal * window.view(1, 1, n_fft)
    out = torch._unfold_backward(windowed, [windowed.size(0), total], 1, n_fft, hop)
    squares = window.pow(2)
    window = squares.expand(1, frames, n_fft)
    del squares
    envelope = torch._unfold_backward(window, [1, total], 1, n_fft, hop)
    start = n_fft // 2 if center else 0
    end = start + length if length is not None else total - n_fft // 2 if center else total
    kept = (total if end > total else end) - start
    out = out.narrow(1, start, kept)
    envelope = envelope.narrow(1, start, kept)
    magnitude = envelope.abs()
    lowest = magnitude.min()
    verdict = lowest.lt(1e-11)
    del lowest, magnitude
    torch.equal(verdict, verdict.new_ones(()))
    out = out / envelope
    if not is_batched:
        out = out.squeeze(0)
    if end > total:
        out = torch.constant_pad_nd(out, [0, end - total], 0)
    del verdict, envelope, windowed, window, signal
    return out
