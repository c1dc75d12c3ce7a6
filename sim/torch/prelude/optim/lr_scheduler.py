# module: torch.optim.lr_scheduler
# defines: LRScheduler StepLR MultiStepLR ExponentialLR CosineAnnealingLR CosineAnnealingWarmRestarts LambdaLR LinearLR ConstantLR OneCycleLR ReduceLROnPlateau PolynomialLR SequentialLR ChainedScheduler CyclicLR MultiplicativeLR _LRScheduler


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


def _cycle_momentum(optimizer, momentum):
    """the schedule begins at its highest momentum: an optimizer without any has buffers for it from then on"""
    if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
        raise ValueError("optimizer must support momentum or beta1 with `cycle_momentum` option enabled")
    for group in optimizer.param_groups:
        if "momentum" in group:
            group["momentum"] = momentum


class OneCycleLR(LRScheduler):
    def __init__(self, optimizer, max_lr, total_steps=None, epochs=None, steps_per_epoch=None, pct_start=0.3, anneal_strategy="cos",
                 cycle_momentum=True, base_momentum=0.85, max_momentum=0.95, *args, **kwargs):
        super().__init__(optimizer)
        if cycle_momentum:
            _cycle_momentum(optimizer, max_momentum)


class ReduceLROnPlateau(LRScheduler):
    pass


class PolynomialLR(LRScheduler):
    pass


class SequentialLR(LRScheduler):
    pass


class ChainedScheduler(LRScheduler):
    def __init__(self, schedulers, optimizer=None):
        super().__init__(optimizer or schedulers[0].optimizer)


class MultiplicativeLR(LRScheduler):
    pass


class CyclicLR(LRScheduler):
    def __init__(self, optimizer, base_lr, max_lr, step_size_up=2000, step_size_down=None, mode="triangular", gamma=1.0,
                 scale_fn=None, scale_mode="cycle", cycle_momentum=True, base_momentum=0.8, max_momentum=0.9, last_epoch=-1):
        super().__init__(optimizer)
        if cycle_momentum:
            _cycle_momentum(optimizer, max_momentum)


_LRScheduler = LRScheduler
