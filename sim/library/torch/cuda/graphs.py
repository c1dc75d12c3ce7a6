import torch._C as _C


def is_current_stream_capturing():
    return False


def _no_graphs(*args, **kwargs):
    _C.refuse("CUDA graphs are not modelled", "run the code without capturing it")


CUDAGraph = graph = make_graphed_callables = _no_graphs
