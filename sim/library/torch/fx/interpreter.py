import torch
from torch.fx._symbolic_trace import Tracer
from torch.fx.graph import Graph
from torch.fx.graph_module import GraphModule
from torch.fx.node import Node, map_aggregate, map_arg
from torch.fx.proxy import Proxy


class Interpreter:
    """runs a graph node by node; a subclass does something else with some of them"""

    def __init__(self, module, garbage_collect_values=True, graph=None):
        self.module, self.submodules = module, dict(module.named_modules())
        self.graph = module.graph if graph is None else graph
        self.env, self.name = {}, "Interpreter"
        self.garbage_collect_values = garbage_collect_values
        self.extra_traceback = True
        if garbage_collect_values:
            last, self.user_to_last_uses = {}, {}
            for node in reversed(self.graph.nodes):
                for each in node.all_input_nodes:
                    if each not in last:
                        last[each] = node
                        self.user_to_last_uses.setdefault(node, []).append(each)

    def run(self, *args, initial_env=None, enable_io_processing=True):
        self.env = initial_env if initial_env is not None else {}
        self.args_iter = iter(args)
        for node in self.graph.nodes:
            if node in self.env:
                continue
            self.env[node] = self.run_node(node)
            if self.garbage_collect_values:
                for each in self.user_to_last_uses.get(node, []):
                    del self.env[each]
            if node.op == "output":
                return self.env[node]

    def boxed_run(self, args_list):
        args = list(args_list)
        args_list.clear()
        return self.run(*args)

    def run_node(self, n):
        args, kwargs = self.fetch_args_kwargs_from_env(n)
        return getattr(self, n.op)(n.target, args, kwargs)

    def placeholder(self, target, args, kwargs):
        if target.startswith("*"):
            return list(self.args_iter)
        try:
            return next(self.args_iter)
        except StopIteration as si:
            if len(args) > 0:
                return args[0]
            text = f"Expected positional argument for parameter {target}, but one was not passed in!"
            raise RuntimeError(text) from si

    def get_attr(self, target, args, kwargs):
        return self.fetch_attr(target)

    def call_function(self, target, args, kwargs):
        return target(*args, **kwargs)

    def call_method(self, target, args, kwargs):
        self_obj, *args_tail = args
        return getattr(self_obj, target)(*args_tail, **kwargs)

    def call_module(self, target, args, kwargs):
        return self.fetch_attr(target)(*args, **kwargs)

    def output(self, target, args, kwargs):
        return args[0]

    def fetch_attr(self, target):
        found, parts = self.module, target.split(".")
        for i, part in enumerate(parts):
            if not hasattr(found, part):
                raise RuntimeError(f"Node referenced nonexistent target {'.'.join(parts[: i + 1])}")
            found = getattr(found, part)
        return found

    def fetch_args_kwargs_from_env(self, n):
        return self.map_nodes_to_values(n.args, n), self.map_nodes_to_values(n.kwargs, n)

    def map_nodes_to_values(self, args, n):
        def load(each):
            if each not in self.env:
                raise RuntimeError(
                    f"Node {n} referenced nonexistent value {each}! Run Graph.lint() to diagnose such issues"
                )
            return self.env[each]

        return map_arg(args, load)


class _TransformerTracer(Tracer):
    def __init__(self, graph):
        super().__init__()
        self.graph, self.root = graph, torch.nn.Module()

    def is_leaf_module(self, m, module_qualified_name):
        return True


class Transformer(Interpreter):
    """an interpreter whose values are those of a new graph"""

    def __init__(self, module):
        super().__init__(module)
        self.new_graph = Graph()
        self.new_graph._codegen = getattr(module.graph, "_codegen", None)
        self.tracer = _TransformerTracer(self.new_graph)
        self.tracer.root = module
        self.tracer._paths = {id(each): name for name, each in module.named_modules()}

    def placeholder(self, target, args, kwargs):
        default = args[0] if args else ...
        return Proxy(self.new_graph.placeholder(target, default_value=default), self.tracer)

    def get_attr(self, target, args, kwargs):
        return self.tracer.create_proxy("get_attr", target, args, kwargs)

    def call_module(self, target, args, kwargs):
        submod = self.fetch_attr(target)
        return self.tracer.call_module(submod, submod.forward, args, kwargs)

    def call_function(self, target, args, kwargs):
        return self.tracer.create_proxy("call_function", target, args, kwargs)

    def transform(self):
        result = super().run(enable_io_processing=False)
        if result is not None:
            self.new_graph.output(map_aggregate(result, lambda a: a.node if isinstance(a, Proxy) else a))
        return GraphModule(self.module, self.new_graph)
