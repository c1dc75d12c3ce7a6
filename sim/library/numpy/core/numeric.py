"""The older name of numpy._core.numeric."""

import _tidemark
import numpy._core.numeric as _own


def __getattr__(name):
    return getattr(_own, name) if hasattr(_own, name) else _tidemark.later("numpy.core.numeric." + name)
