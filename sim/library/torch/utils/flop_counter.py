import torch._C as _C


class FlopCounterMode:
    """operators are not counted: before anything has run there are none"""

    def __init__(self, mods=None, depth=2, display=True, custom_mapping=None):
        self._entered = False

    def __enter__(self):
        self._entered = True
        return self

    def __exit__(self, *error):
        return False

    def _check(self):
        if self._entered:
            _C.refuse("counts of torch.utils.flop_counter are not modelled", "nothing on the device depends on them")

    def get_total_flops(self):
        self._check()
        return 0

    def get_flop_counts(self):
        self._check()
        return {"Global": {}}

    def get_table(self, depth=None):
        self._check()
        return ""
