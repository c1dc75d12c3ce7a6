import os
import torch
import torch._C as _C


def _variable(name):
    if name not in os.environ._values:
        raise ValueError(
            f"Error initializing torch.distributed using env:// rendezvous: environment variable {name} expected, "
            "but not set"
        )
    return int(os.environ._values[name])


def _query(init_method):
    """{name: value} behind the '?' of an address"""
    _, _, text = init_method.partition("?")
    return dict([item.split("=") for item in text.split("&") if item])


def _job(init_method, rank, world_size):
    """rank and world size: as they are given, else of the address, else of the environment"""
    asked = _query(init_method) if init_method else {}
    if rank < 0 and "rank" in asked:
        rank = int(asked["rank"])
    if world_size < 1 and "world_size" in asked:
        world_size = int(asked["world_size"])
    if init_method and not init_method.startswith("env://") and (rank < 0 or world_size < 1):
        raise ValueError("Error initializing torch.distributed: rank and world_size parameters missing")
    if rank < 0 and world_size < 1 and _C.rank_in_job() is None and "RANK" not in os.environ._values:
        gpus = torch.cuda.device_count()
        _C.refuse(
            "this process is of no distributed job, so that its rank is not known",
            f"give --world {gpus}: a process for each GPU of the machine" if gpus > 1 else "give --world, and --rank",
        )
    return (_variable("RANK") if rank < 0 else rank), (_variable("WORLD_SIZE") if world_size < 1 else world_size)
