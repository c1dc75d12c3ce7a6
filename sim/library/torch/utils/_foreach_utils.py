def _get_foreach_kernels_supported_devices():
    return ["cuda", "xpu", "mtia", "mps"]


def _get_fused_kernels_supported_devices():
    return ["mps", "cuda", "xpu", "hpu", "cpu", "mtia"]


def _group_tensors_by_device_and_dtype(tensorlistlist, with_indices=False):
    """Lists side by side, cut into those of each device and dtype of the first; an empty one stays empty."""
    groups = {}
    for i, first in enumerate(tensorlistlist[0]):
        key = first.device, first.dtype
        if key not in groups:
            groups[key] = [[] for _ in tensorlistlist], []
        lists, indices = groups[key]
        for out, given in zip(lists, tensorlistlist):
            if given:
                out.append(given[i])
        if with_indices:
            indices.append(i)
    return groups


def _device_has_foreach_support(device):
    return device.type in [*_get_foreach_kernels_supported_devices(), "cpu"]


def _has_foreach_support(tensors, device):
    return _device_has_foreach_support(device)
