import torch
import torch._C as _C

_has_tracker = []


def is_rng_supported_mesh(device_mesh):
    return device_mesh.device_type == "cuda"


def manual_seed(seed, device_mesh):
    """the tracker that it makes does not compare states with other ranks"""
    if not is_rng_supported_mesh(device_mesh):
        return
    if not _has_tracker:
        _has_tracker.append(True)
        _state(_device())
    if device_mesh.get_coordinate() is None:
        raise RuntimeError(
            "manual_seed requires the current rank to be a part of the device mesh "
            "otherwise DTensor RNG state on the rank will not be initialized and "
            "the behavior of DTensor random ops is undefined."
        )
    torch.manual_seed(seed)


def begin_random(draws=True):
    """what drawing numbers of a DTensor asks first: the generator's state, on the device"""
    if _C.is_traced():
        _C.refuse("random numbers of DTensors in compiled code are not modelled", "'--compile eager' runs it as eager")
    if not _has_tracker:
        _has_tracker.append(True)
        _compare_states(_device())
    if draws:
        _state(_device())


def _device():
    return torch.device("cuda", torch.cuda.current_device())


def _state(device):
    return torch.empty(16, dtype=torch.uint8).to(device)


def _compare_states(device):
    rng_state = _state(device)
    my_rng_state = _state(device)
    my_rng_state == rng_state
