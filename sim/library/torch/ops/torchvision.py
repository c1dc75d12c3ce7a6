import _tidemark


def _cuda_version():
    return -1


def __getattr__(name):
    return _tidemark.later("torch.ops.torchvision." + name)
