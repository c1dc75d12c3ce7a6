"""Instances of classes between ranks: how many bytes pickle makes of them, and what other ranks read of them."""
import argparse, collections, enum, os
import torch
import torch.distributed as dist
from dataclasses import dataclass, field
from typing import NamedTuple
dist.init_process_group("nccl")
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
class Color(enum.Enum):
    RED = "red"
    BLUE = 700
Point = collections.namedtuple("Point", "x y")
class Typed(NamedTuple):
    a: int
    b: str
@dataclass
class Stats:
    step: int
    loss: float
    names: list = field(default_factory=list)
class Meter:
    def __init__(self, name):
        self.name, self.values, self.inner = name, [], Stats(1, 2.0)
class Empty:
    pass
class Outer:
    class Inner:
        def __init__(self):
            self.x = None
got = [None] * 2
def send(x):
    dist.all_gather_object(got, x)
stats = Stats(3, 0.5, ["a"] * 20)
send(stats)
send([stats, stats, {"again": stats}])
send(Meter("loss"))
send([Meter(str(i)) for i in range(300)])
send(Empty())
send(Outer.Inner())
send(argparse.Namespace(lr=0.1, epochs=300, name="run", flags=[True, None]))
send(Color.RED)
send([Color.BLUE, Color.RED, Color.BLUE])
send(Point(1, 2.0))
send([Point(i, [i]) for i in range(5)])
send(Typed(4, "five"))
dist.broadcast_object_list([stats, Meter("m"), "text"], src=0)
told = [Stats(dist.get_rank(), 1.5, list(range(1000))), Color.BLUE] if dist.get_rank() == 0 else [None, None]
dist.broadcast_object_list(told, src=0)
print(told[0].step, len(told[0].names), told[1].value, told[1] is Color.BLUE)
whole = torch.empty(len(told[0].names) + told[0].step, 50, device="cuda")
send(Typed(dist.get_rank(), "x"))
print([x.a for x in got], got[0].b)
dist.destroy_process_group()
