from torch.overrides import TorchFunctionMode


class TransformGetItemToIndex(TorchFunctionMode):
    """x[i] of a mapped number is an index, as it is anyway"""

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass
