"""patterns of the package regex: compiled when they are used, by what re knows"""
import re
from re import *


class Pattern:
    def __init__(self, pattern, flags=0):
        self.pattern, self.flags, self._compiled = pattern, flags, None

    def __getattr__(self, name):
        if self._compiled is None:
            self._compiled = re.compile(self.pattern, self.flags)
        return getattr(self._compiled, name)


def compile(pattern, flags=0, **options):
    return Pattern(pattern, flags)
