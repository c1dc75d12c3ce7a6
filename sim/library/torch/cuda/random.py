import torch
from torch._refs.random_numbers import Generator


def seed():
    pass


def seed_all():
    pass


def initial_seed():
    return 0


def get_rng_state(device="cuda"):
    return torch.empty(16, dtype=torch.uint8, device="cpu")


def set_rng_state(new_state, device="cuda"):
    pass


def get_rng_state_all():
    return [get_rng_state(i) for i in range(torch.cuda.device_count())]


def set_rng_state_all(new_states):
    pass


default_generators = tuple([Generator(f"cuda:{i}") for i in range(torch.cuda.device_count())])
