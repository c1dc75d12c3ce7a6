import torch._C as _C
from collections import OrderedDict


class RemovableHandle:
    def __init__(self, hooks_dict, *, extra_dict=None):
        self._hooks, self.id = hooks_dict, id(self)

    def remove(self):
        self._hooks.pop(self.id, None)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.remove()
