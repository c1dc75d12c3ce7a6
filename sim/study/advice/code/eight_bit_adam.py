class EightBitAdam(torch.optim.Optimizer):
    """AdamW that keeps both averages in eight bits, with a scale for each 256 numbers."""

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay})

    @staticmethod
    def packed(values):
        padded = torch.nn.functional.pad(values.flatten(), (0, -values.numel() % 256)).view(-1, 256)
        scale = padded.abs().amax(1, keepdim=True).clamp(min=1e-30) / 127
        return (padded / scale).round().to(torch.int8), scale

    @staticmethod
    def unpacked(packed, like):
        codes, scale = packed
        return (codes * scale).flatten()[: like.numel()].view(like.shape)

    @torch.no_grad()
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            for weight in group["params"]:
                if weight.grad is not None:
                    self.step_of(weight, self.state[weight], group)
        return loss

    def step_of(self, weight, state, group):
        beta1, beta2 = group["betas"]
        grad = weight.grad.float()
        if not state:
            state["step"] = 0
            mean, root = torch.zeros_like(grad), torch.zeros_like(grad)
        else:
            mean, root = self.unpacked(state["mean"], grad), self.unpacked(state["root"], grad)
        state["step"] += 1
        mean.lerp_(grad, 1 - beta1)
        root.square_().mul_(beta2).addcmul_(grad, grad, value=1 - beta2).sqrt_()
        state["mean"], state["root"] = self.packed(mean), self.packed(root)
        weight.mul_(1 - group["lr"] * group["weight_decay"])
        root.div_((1 - beta2 ** state["step"]) ** 0.5).add_(group["eps"])
        weight.add_(mean.div_(root).to(weight.dtype), alpha=-group["lr"] / (1 - beta1 ** state["step"]))
