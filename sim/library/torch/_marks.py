import torch._C as _C

mark = _C.mark


class phase:
    """names what follows until the next one begins"""

    def __init__(self, name):
        self.name = name

    def __enter__(self):
        _C.begin_phase(self.name)
        return self

    def __exit__(self, *error):
        return False
