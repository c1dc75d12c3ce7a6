# Nothing handles the error: what is printed on the way out comes after what was asked before it, and nothing comes later.
import torch
from torch import nn

from guards import Counting


class Trainer:
    def __init__(self):
        self.model = nn.TransformerEncoderLayer(1024, 16, 4096, batch_first=True).cuda()
        self.done = 0

    def fit(self):
        try:
            for length in (128, 2048, 32768, 131072):
                print("length", length, torch.cuda.memory_allocated() >> 20)
                with Counting():
                    self.model(torch.randn(16, length, 1024, device="cuda")).sum().backward()
                self.done += 1
        except ValueError:
            print("not this")
        else:
            print("not this either")
        finally:
            print("done", self.done, torch.cuda.max_memory_allocated() >> 20)
            self.model = None
            torch.cuda.synchronize()
            after = torch.zeros(2**20, device="cuda")
            print("after", after.numel())


try:
    Trainer().fit()
except torch.OutOfMemoryError as error:
    print("to the log:", str(error).split(". ")[0])
    raise
print("not reached")
