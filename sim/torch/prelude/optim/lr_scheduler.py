# module: torch.optim.lr_scheduler
# defines: LRScheduler StepLR MultiStepLR ExponentialLR CosineAnnealingLR CosineAnnealingWarmRestarts LambdaLR LinearLR ConstantLR OneCycleLR ReduceLROnPlateau PolynomialLR SequentialLR ChainedScheduler


class LRScheduler:
    """learning rates are host numbers: a schedule asks the device for nothing"""

    def __init__(self, optimizer, *args, **kwargs):
        self.optimizer = optimizer
        self.last_epoch = 0

    def step(self, *args):
        self.last_epoch += 1

    def get_last_lr(self):
        return [group["lr"] for group in self.optimizer.param_groups]

    def get_lr(self):
        return self.get_last_lr()

    def state_dict(self):
        return {"last_epoch": self.last_epoch}

    def load_state_dict(self, state):
        self.last_epoch = state["last_epoch"]


class StepLR(LRScheduler):
    pass


class MultiStepLR(LRScheduler):
    pass


class ExponentialLR(LRScheduler):
    pass


class CosineAnnealingLR(LRScheduler):
    pass


class CosineAnnealingWarmRestarts(LRScheduler):
    pass


class LambdaLR(LRScheduler):
    pass


class LinearLR(LRScheduler):
    pass


class ConstantLR(LRScheduler):
    pass


class OneCycleLR(LRScheduler):
    def __init__(self, optimizer, max_lr, total_steps=None, epochs=None, steps_per_epoch=None, pct_start=0.3, anneal_strategy="cos",
                 cycle_momentum=True, base_momentum=0.85, max_momentum=0.95, *args, **kwargs):
        super().__init__(optimizer)
        if not cycle_momentum:
            return
        if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
            raise ValueError("optimizer must support momentum or beta1 with `cycle_momentum` option enabled")
        for group in optimizer.param_groups:
            if "momentum" in group:
                group["momentum"] = max_momentum


class ReduceLROnPlateau(LRScheduler):
    pass


class PolynomialLR(LRScheduler):
    pass


class SequentialLR(LRScheduler):
    pass


class ChainedScheduler(LRScheduler):
    def __init__(self, schedulers, optimizer=None):
        super().__init__(optimizer or schedulers[0].optimizer)
