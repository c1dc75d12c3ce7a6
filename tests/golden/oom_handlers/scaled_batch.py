# A batch is doubled until it fails, then sought between the last that went and the first that did not.
import gc

import torch
from torch import nn

from guards import is_oom


class Scaler:
    def __init__(self, step, most=8):
        self.step, self.most, self.asked = step, most, []

    def try_out(self, batch):
        self.asked.append(batch)
        gc.collect()
        torch.cuda.empty_cache()
        try:
            self.step(batch)
            return True
        except RuntimeError as error:
            if not is_oom(error):
                raise
            return False
        finally:
            model.zero_grad(set_to_none=True)

    def search(self, batch):
        low, high = 0, None
        while high is None or high - low > 64:
            if self.try_out(batch):
                low = batch
                batch = batch * 2 if high is None else (low + high) // 2
            else:
                high = batch
                batch = (low + high) // 2
        return low


model = nn.Sequential(nn.Conv2d(3, 64, 7, 2, 3), nn.BatchNorm2d(64), nn.ReLU(True), nn.Conv2d(64, 256, 3, padding=1), nn.ReLU(True),
                      nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(256, 1000)).cuda()


def step(batch):
    x = torch.randn(batch, 3, 224, 224, device="cuda")
    y = torch.zeros(batch, dtype=torch.long, device="cuda")
    nn.functional.cross_entropy(model(x), y).backward()


scaler = Scaler(step)
print(scaler.search(256), scaler.asked)


def other_error(batch):
    raise RuntimeError("shapes do not go together")


try:
    Scaler(other_error).try_out(4)
except RuntimeError as error:
    print("passed on:", error)
