"""tracing is not modelled; what modules are marked with for it does nothing"""
import _tidemark

Tracer, Graph, GraphModule, Node, Interpreter, Transformer, symbolic_trace, replace_pattern = [
    _tidemark.later("torch.fx." + n)
    for n in (
        "Tracer", "Graph", "GraphModule", "Node", "Interpreter", "Transformer", "symbolic_trace", "replace_pattern",
    )
]


class Proxy:
    """what tracing puts in a tensor's place: there is none"""


def wrap(fn_or_name):
    return fn_or_name
