class FourBitProduct(torch.autograd.Function):
    """x @ weight.T, where four bits of each weight lie in memory. Backward unpacks them again."""

    @staticmethod
    def forward(ctx, x, layer):
        ctx.layer, ctx.dtype = layer, x.dtype
        return torch.nn.functional.linear(x, layer.unpacked(x.dtype))

    @staticmethod
    def backward(ctx, grad):
        return (grad @ ctx.layer.unpacked(grad.dtype)).to(ctx.dtype), None


class FourBits(torch.nn.Module):
    """A linear layer at rest: two weights a byte, a scale for each 64 weights."""

    def __init__(self, layer):
        super().__init__()
        self.in_features, self.out_features = layer.in_features, layer.out_features
        self.bias = layer.bias
        weight = layer.weight.detach().view(-1, 64)
        scale = weight.abs().amax(1, keepdim=True).clamp(min=1e-8) / 7
        codes = (weight / scale).round().add(8).to(torch.uint8).view(-1, 2)
        self.register_buffer("weight", codes[:, 0] * 16 + codes[:, 1])
        self.register_buffer("scale", scale)

    def unpacked(self, dtype):
        codes = torch.stack((self.weight >> 4, self.weight & 15), 1).view(-1, 64)
        values = (codes.to(dtype) - 8) * self.scale.to(dtype)
        return values.view(self.out_features, self.in_features)

    def forward(self, x):
        out = FourBitProduct.apply(x, self)
        return out if self.bias is None else out + self.bias


def rest_in_four_bits(model):
    """The layers of each LowRank lie in memory in four bits a weight."""
    for part in list(model.modules()):
        if isinstance(part, LowRank) and part.layer.weight.numel() % 64 == 0:
            part.layer = FourBits(part.layer)
