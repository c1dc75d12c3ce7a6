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
