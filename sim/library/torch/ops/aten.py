"""ATen's operators by their own names: those that torch has under the same"""
import torch

_WITH_SCALARS = (
    "add", "sub", "mul", "div", "clamp_max", "clamp_min", "maximum", "minimum", "pow",
)


class OpOverloadPacket:
    """an operator, made once, and its overloads, which are not told apart"""

    def __init__(self, name):
        self.__name__, self._function = name, None
        self.default = self

    def __call__(self, *args, **kwargs):
        if self._function is not None:
            return self._function(*args, **kwargs)
        return getattr(torch, self.__name__)(*args, **kwargs)

    def __str__(self):
        name = self.__name__
        return f"{name if '.' in name else 'aten.' + name}.default"

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def overloads(self):
        name = self.__name__
        if name.startswith("_foreach_"):
            return ["Scalar", "List", "ScalarList"] if name[9:].rstrip("_") in _WITH_SCALARS else ["default"]
        raise RuntimeError(f"the overloads of torch.ops.aten.{name} are not modelled")

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self


def __getattr__(name):
    packet = OpOverloadPacket(name)
    setattr(torch.ops.aten, name, packet)  # found there from now on
    return packet
