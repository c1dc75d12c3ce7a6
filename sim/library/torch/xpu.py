"""a kind of device that is not there"""


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


synchronize = empty_cache


def is_bf16_supported():
    return False


def get_rng_state_all():
    return []


def current_device():
    raise RuntimeError("there is no such device here")


get_device_name = get_device_properties = get_device_capability = lambda device=None: current_device()
get_rng_state = mem_get_info = set_device = lambda device=None: current_device()
memory_allocated = max_memory_allocated = memory_reserved = max_memory_reserved = lambda device=None: 0
reset_peak_memory_stats = lambda device=None: None


def set_rng_state(new_state, device="xpu"):
    current_device()


def set_rng_state_all(new_states):
    if len(new_states) > 0:
        current_device()
