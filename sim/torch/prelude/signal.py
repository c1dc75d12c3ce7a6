# module: torch torch.Tensor
# defines: stft hann_window hamming_window istft
import torch


def _window(length, periodic, dtype, device, requires_grad):
    """a periodic window is one of a length more, without its last value"""
    if not periodic or length < 2:
        return torch.empty(length, dtype=dtype, device=device, requires_grad=requires_grad)
    return torch.empty(length + 1, dtype=dtype, device=device).narrow(0, 0, length).requires_grad_(requires_grad)


def hann_window(window_length, periodic=True, *, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    return _window(window_length, periodic, dtype, device, requires_grad)


def hamming_window(window_length, periodic=True, alpha=0.54, beta=0.46, *, dtype=None, layout=None, device=None,
                   requires_grad=False, pin_memory=False):
    return _window(window_length, periodic, dtype, device, requires_grad)


def stft(input, n_fft, hop_length=None, win_length=None, window=None, center=True, pad_mode="reflect", normalized=False,
         onesided=None, return_complex=None, align_to_window=None):
    if not return_complex:
        torch._C.refuse("stft without return_complex=True is not modelled", "give return_complex=True and use torch.view_as_real")
    if win_length is not None and win_length != n_fft:
        torch._C.refuse("stft with win_length other than n_fft is not modelled", "pad the window to n_fft yourself")
    if center:
        signal_dim = input.dim()
        extended_shape = [1] * (3 - signal_dim) + list(input.size())
        pad = n_fft // 2
        input = torch.nn.functional.pad(input.view(extended_shape), [pad, pad], pad_mode)
        input = input.view(input.shape[-signal_dim:])
    return _stft(input, n_fft, n_fft // 4 if hop_length is None else hop_length, window, onesided is None or onesided)


def _stft(input, n_fft, hop, window, onesided):
    is_batched = input.dim() == 2
    if not is_batched:
        input = input.unsqueeze(0)
    frames = 1 + (input.size(1) - n_fft) // hop
    input = input.as_strided((input.size(0), frames, n_fft), (input.stride(0), hop * input.stride(1), input.stride(1)))
    if window is not None:
        input = input.mul(window)
    out = torch._fft_r2c(input, [2], onesided)
    out.transpose_(1, 2)
    return out if is_batched else out.squeeze_(0)


def istft(input, n_fft, hop_length=None, win_length=None, window=None, center=True, normalized=False, onesided=None, length=None,
          return_complex=False):
    torch._C.refuse("istft is not modelled", "use torch.fft.irfft and torch.nn.functional.fold")
