import _tidemark


class FlopCounterMode:
    """Operators are not counted: what is asked for is zero, and told."""

    def __init__(self, mods=None, depth=2, display=True, custom_mapping=None):
        self._entered = False

    def __enter__(self):
        self._entered = True
        return self

    def __exit__(self, *error):
        return False

    def _tell(self):
        if self._entered:
            _tidemark.note("counts of torch.utils.flop_counter are not modelled: taken to be 0")

    def get_total_flops(self):
        self._tell()
        return 0

    def get_flop_counts(self):
        self._tell()
        return {"Global": {}}

    def get_table(self, depth=None):
        self._tell()
        return ""
