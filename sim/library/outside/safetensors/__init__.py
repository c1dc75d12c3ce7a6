import _tidemark

__version__ = "0.8.0"


class SafetensorError(Exception):
    pass


def __getattr__(name):
    return _tidemark.later("safetensors." + name)
