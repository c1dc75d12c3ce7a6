# module: torch.nn.functional
# defines: fractional_max_pool2d fractional_max_pool3d fractional_max_pool2d_with_indices fractional_max_pool3d_with_indices
import torch


def _fractional_pool(input, output_size, output_ratio, return_indices, samples, dims):
    spread = lambda value: list(value) if isinstance(value, (tuple, list)) else [value] * dims
    if output_size is None and output_ratio is None:
        raise ValueError(f"fractional_max_pool{dims}d requires specifying either an output_size or an output_ratio")
    if output_size is None:
        output_size = [int(input.size(d - dims) * ratio) for d, ratio in enumerate(spread(output_ratio))]
    if samples is None:
        batch = 1 if input.dim() == dims + 1 else input.size(0)
        samples = torch.rand(batch, input.size(-1 - dims), dims, dtype=input.dtype, device=input.device)
    out, indices = torch._fractional_max_pool(input, spread(output_size))
    return (out, indices) if return_indices else out


def fractional_max_pool2d(input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None):
    return _fractional_pool(input, output_size, output_ratio, return_indices, _random_samples, 2)


def fractional_max_pool3d(input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None):
    return _fractional_pool(input, output_size, output_ratio, return_indices, _random_samples, 3)


def fractional_max_pool2d_with_indices(input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None):
    return _fractional_pool(input, output_size, output_ratio, True, _random_samples, 2)


def fractional_max_pool3d_with_indices(input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None):
    return _fractional_pool(input, output_size, output_ratio, True, _random_samples, 3)
