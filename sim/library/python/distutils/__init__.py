import _tidemark


def __getattr__(name):
    return _tidemark.later("distutils." + name)
