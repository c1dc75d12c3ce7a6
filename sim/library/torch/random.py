import torch
from torch._refs.random_numbers import default_generator


def manual_seed(seed):
    return default_generator.manual_seed(seed)


def seed():
    return default_generator.seed()


def initial_seed():
    return default_generator.initial_seed()


def get_rng_state():
    return default_generator.get_state()


def set_rng_state(new_state):
    default_generator.set_state(new_state)


class fork_rng:
    def __init__(self, devices=None, enabled=True, *args, **kwargs):
        self.devices, self.enabled = devices, enabled

    def __enter__(self):
        self.before = get_rng_state() if self.enabled else None

    def __exit__(self, *error):
        if self.enabled:
            set_rng_state(self.before)
        return False
