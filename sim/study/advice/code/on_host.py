def on_host(kind):
    """An optimizer whose weights and state lie on the host. Gradients go there, weights come back."""

    class OnHost(kind):
        def __init__(self, params, *args, **kwargs):
            self.on_device = [weight for weight in params if weight.requires_grad]
            super().__init__([weight.detach().cpu() for weight in self.on_device], *args, **kwargs)

        @torch.no_grad()
        def step(self, closure=None):
            copies = [copy for group in self.param_groups for copy in group["params"]]
            for weight, copy in zip(self.on_device, copies):
                copy.grad = None if weight.grad is None else weight.grad.to("cpu")
            super().step(closure)
            for weight, copy in zip(self.on_device, copies):
                weight.copy_(copy)

        def zero_grad(self, set_to_none=True):
            super().zero_grad(set_to_none)
            for weight in self.on_device:
                weight.grad = None

    return OnHost
