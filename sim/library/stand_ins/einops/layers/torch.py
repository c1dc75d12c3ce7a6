import torch.nn as nn
from einops import _Pattern


class Rearrange(nn.Module):
    def __init__(self, pattern, **axes_lengths):
        super().__init__()
        self.pattern, self.axes_lengths = pattern, axes_lengths
        self._transform = _Pattern(pattern, "rearrange", axes_lengths)

    def extra_repr(self):
        return ", ".join(
            [repr(self.pattern), *[name + "=" + str(length) for name, length in self.axes_lengths.items()]]
        )

    def forward(self, input):
        return self._transform(input, self.axes_lengths)


class Reduce(nn.Module):
    def __init__(self, pattern, reduction, **axes_lengths):
        super().__init__()
        self.pattern, self.reduction, self.axes_lengths = pattern, reduction, axes_lengths
        self._transform = _Pattern(pattern, reduction, axes_lengths)

    def extra_repr(self):
        return ", ".join(
            [repr(self.pattern), repr(self.reduction), *[n + "=" + str(l) for n, l in self.axes_lengths.items()]]
        )

    def forward(self, input):
        return self._transform(input, self.axes_lengths)
