class LowRank(torch.nn.Module):
    """A linear layer whose weight rests. Two small layers beside it learn."""

    def __init__(self, layer, rank=8):
        super().__init__()
        self.layer = layer
        like = {"bias": False, "device": layer.weight.device, "dtype": torch.get_default_dtype()}
        if layer.weight.is_floating_point():
            like["dtype"] = layer.weight.dtype
        self.down = torch.nn.Linear(layer.in_features, rank, **like)
        self.up = torch.nn.Linear(rank, layer.out_features, **like)
        torch.nn.init.zeros_(self.up.weight)

    def forward(self, x):
        return self.layer(x) + self.up(self.down(x))

    @property
    def weight(self):
        return self.layer.weight

    @property
    def bias(self):
        return self.layer.bias


def learn_low_rank(model):
    """Every weight rests but those of a LowRank in the place of each linear layer."""
    model.requires_grad_(False)
    for part in list(model.modules()):
        for name, layer in list(part.named_children()):
            if type(layer) is torch.nn.Linear:
                setattr(part, name, LowRank(layer))
