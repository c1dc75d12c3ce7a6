from torch.optim.optimizer import Optimizer


class PostLocalSGDOptimizer(Optimizer):
    """an optimizer whose step is followed by a model averager's. Source:
    torch.distributed.optim.PostLocalSGDOptimizer"""

    def __init__(self, optim, averager):
        self.optim, self.averager = optim, averager
        self.param_groups = optim.param_groups

    @property
    def state(self):
        return self.optim.state

    def __repr__(self):
        return repr(self.optim)

    def state_dict(self):
        return {**self.optim.state_dict(), "step": self.averager.step}

    def load_state_dict(self, state_dict):
        self.optim.load_state_dict(state_dict)
        self.averager.step = state_dict.get("step", 0)

    def step(self):
        self.optim.step()
        self.averager.average_parameters(self.param_groups)

    def zero_grad(self, set_to_none=True):
        self.optim.zero_grad(set_to_none)

    def add_param_group(self, param_group):
        self.optim.add_param_group(param_group)
