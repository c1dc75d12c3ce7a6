"""The older name of numpy._core.numerictypes."""

import _tidemark
import numpy._core.numerictypes as _own


def __getattr__(name):
    return getattr(_own, name) if hasattr(_own, name) else _tidemark.later("numpy.core.numerictypes." + name)
