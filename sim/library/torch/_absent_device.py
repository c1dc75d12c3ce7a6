"""a kind of device that is not there"""
from collections import OrderedDict


def is_available():
    return False


def device_count():
    return 0


def is_initialized():
    return False


def manual_seed(seed):
    pass


manual_seed_all = manual_seed


def empty_cache():
    pass


seed = seed_all = empty_cache


def memory_allocated(device=None):
    return 0


memory_reserved = max_memory_allocated = max_memory_reserved = memory_allocated


def get_rng_state_all():
    return []


def memory_stats(device=None):
    return OrderedDict()


_XPU = (AssertionError, "Torch not compiled with XPU enabled")
_MTIA = (
    AssertionError,
    "Torch not compiled with MTIA enabled. Ensure you have "
    "`import mtia.host_runtime.torch_mtia.dynamic_library` in your python src file and include "
    "`//mtia/host_runtime/torch_mtia:torch_mtia` as your target dependency!",
)
_DUMMY = "Tried to instantiate dummy base class _xpu_{}"
_ERRORS = {
    "torch.xpu": (_XPU, {
        "is_current_stream_capturing": (RuntimeError, _DUMMY.format("isCurrentStreamCapturing")),
        "graph_pool_handle": (RuntimeError, _DUMMY.format("graph_pool_handle")),
    }),
    "torch.mps": ((RuntimeError, "Cannot execute {}() without MPS backend."), {
        "compile_shader": (RuntimeError, "MPS is not available"),
        "load_metallib": (RuntimeError, "MPS is not available"),
    }),
    "torch.mtia": (_MTIA, {
        "empty_cache": (RuntimeError, "Cannot execute emptyCache() without MTIA backend."),
        "synchronize": (RuntimeError, "Backend doesn't support maybeExchangeDevice()"),
    }),
}
_MPS_NAMES = {
    "current_allocated_memory": "getCurrentAllocatedMemory",
    "driver_allocated_memory": "getDriverAllocatedMemory",
    "empty_cache": "emptyCache",
    "get_rng_state": "getDefaultGenerator",
    "recommended_max_memory": "getRecommendedMaxMemory",
    "seed": "getDefaultGenerator",
    "synchronize": "deviceSynchronize",
}


def failing(owner, name):
    """the function of a module of this kind that does what only the device can: PyTorch's error"""
    usual, others = _ERRORS[owner]
    kind, text = others.get(name, usual)
    text = text.format(_MPS_NAMES.get(name, name))

    def function(*args, **kwargs):
        raise kind(text)

    function.__name__ = function.__qualname__ = name
    function.__module__ = owner
    return function
