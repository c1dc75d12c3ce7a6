"""modules' code looked at: what is done with their inputs becomes a graph, which a GraphModule runs"""
from torch.fx._symbolic_trace import Tracer, symbolic_trace, wrap
from torch.fx.graph import Graph
from torch.fx.graph_module import GraphModule
from torch.fx.node import Node, map_arg
from torch.fx.proxy import Proxy
from torch.fx.interpreter import Interpreter, Transformer
from torch.fx.subgraph_rewriter import replace_pattern
from torch.fx import graph_module, node, proxy, subgraph_rewriter
