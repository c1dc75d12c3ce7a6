"""What programs say to the compiler, under its older name."""
import torch._C as _C
from torch.compiler import *
from torch.compiler import _nothing
from torch._dynamo.eval_frame import OptimizedModule, optimize


def mark_dynamic(t, index, **options):
    """code is compiled for other sizes of these dimensions from the first call on"""
    if isinstance(index, (list, tuple)):
        for each in index:
            mark_dynamic(t, each)
        return
    if not hasattr(t, "_dynamo_dynamic_indices"):
        t._dynamo_dynamic_indices = set()
    t._dynamo_dynamic_indices.add(index)


def mark_static(t, index=None, **options):
    pass


def graph_break(msg=""):
    if _C.leave_graph("a break of the graph"):
        _C.enter_graph()


mark_unbacked = maybe_mark_dynamic = mark_static_address = mark_static
reset_code_caches = _nothing
forbid_in_graph = disallow_in_graph = disable
