import torch
from torch.fx.graph import Graph
from torch.fx.node import map_arg

_USER_PRESERVED_ATTRIBUTES_KEY = "_user_preserved_attributes"


class _CodeOnlyModule(torch.nn.Module):
    def __init__(self, body):
        super().__init__()
        self.__dict__ = body


def _copy_attr(from_module, to_module, target):
    *prefix, field = target.split(".")
    for item in prefix:
        source, made = getattr(from_module, item), getattr(to_module, item, None)
        if source is made:
            return
        if made is None:
            made = torch.nn.Module()
            setattr(to_module, item, made)
        from_module, to_module = source, made
    found = getattr(from_module, field)
    if isinstance(found, torch.Tensor) and not isinstance(found, torch.nn.Parameter):
        to_module.register_buffer(field, found)
    else:
        setattr(to_module, field, found)


def _attribute(module, target):
    for part in target.split("."):
        module = getattr(module, part)
    return module


class GraphModule(torch.nn.Module):
    """runs a graph node by node; each value goes where the graph's own code sets its name to None"""

    def __init__(self, root, graph, class_name="GraphModule"):
        super().__init__()
        self._name_of_class = class_name
        if isinstance(root, torch.nn.Module):
            self.training = root.training
            for node in graph.nodes:
                if node.op in ("get_attr", "call_module"):
                    _copy_attr(root, self, node.target)
        else:
            for name, each in root.items():
                setattr(self, name, each)
        self.graph = graph
        self._tracer_cls = graph._tracer_cls
        self.meta = {}

    def _get_name(self):
        return self._name_of_class

    @property
    def graph(self):
        return self._graph

    @graph.setter
    def graph(self, graph):
        self._graph = graph
        graph.owning_module = self
        self.recompile()

    def recompile(self):
        self._last_uses, self._order = self._graph._last_uses(), list(self._graph.nodes)

    def _value(self, node, values):
        if node.op == "get_attr":
            return _attribute(self, node.target)
        taken = map_arg(node.args, lambda n: values[n])
        named = map_arg(node.kwargs, lambda n: values[n])
        if node.op == "call_module":
            return _attribute(self, node.target)(*taken, **named)
        if node.op == "call_method":
            return getattr(taken[0], node.target)(*taken[1:], **named)
        return node.target(*taken, **named)

    def forward(self, *args, **kwargs):
        values, given = {}, list(args)
        del args
        for node in self._order:
            if node.op == "output":
                return map_arg(node.args[0], lambda n: values[n])
            if node.op == "placeholder":
                default = node.args[0] if node.args else None
                values[node] = given.pop(0) if given else kwargs.get(node.target, default)
                continue
            values[node] = self._value(node, values)
            for each in self._last_uses.get(node, ()):
                del values[each]
