"""What programs say to the compiler, under its older name."""
import torch._C as _C
from torch.compiler import *
from torch.compiler import _nothing
from torch._dynamo.eval_frame import OptimizedModule, optimize


def mark_dynamic(t, index=None, **options):
    pass


def graph_break(msg=""):
    if _C.leave_graph("a break of the graph"):
        _C.enter_graph()


mark_static = mark_unbacked = maybe_mark_dynamic = mark_static_address = mark_dynamic
reset_code_caches = _nothing
forbid_in_graph = disallow_in_graph = disable
