"""What programs say to the compiler, under its older name."""
from torch.compiler import *
from torch.compiler import _nothing, refuse_break
from torch._dynamo.eval_frame import OptimizedModule, optimize


def mark_dynamic(t, index=None, **options):
    pass


def graph_break(msg=""):
    refuse_break("a break of the graph")


mark_static = mark_unbacked = maybe_mark_dynamic = mark_static_address = mark_dynamic
reset_code_caches = _nothing
forbid_in_graph = disallow_in_graph = disable
