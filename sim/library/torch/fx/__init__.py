"""modules' code looked at: what is done with their inputs becomes a graph, which a GraphModule runs"""
import _tidemark
from torch.fx._symbolic_trace import Tracer, symbolic_trace, wrap
from torch.fx.graph import Graph
from torch.fx.graph_module import GraphModule
from torch.fx.node import Node, map_arg
from torch.fx.proxy import Proxy
from torch.fx import node, proxy

Interpreter, Transformer, replace_pattern = [
    _tidemark.later("torch.fx." + n) for n in ("Interpreter", "Transformer", "replace_pattern")
]
