import torch
from torch._refs.random_numbers import default_generator


def manual_seed(seed):
    return None


def seed():
    return 0


def initial_seed():
    return 0


def get_rng_state():
    return torch.empty(5056, dtype=torch.uint8, device="cpu")


def set_rng_state(state):
    return None


class fork_rng:
    def __init__(self, devices=None, enabled=True, *args, **kwargs):
        self.devices = devices

    def __enter__(self):
        pass

    def __exit__(self, *error):
        return False
