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
            for node in graph.nodes:
                if node.op not in ("get_attr", "call_module"):
                    continue
                if node.target not in root:
                    raise RuntimeError(
                        f"Node {node} referenced target {node.target} but that target was not provided in `root`!"
                    )
                self._assign(root[node.target], node.target)
        self.graph = graph
        self._tracer_cls = graph._tracer_cls
        self.meta = {}

    def _assign(self, given, target):
        *prefix, field = target.split(".")
        module = self
        for item in prefix:
            if getattr(module, item, None) is None:
                setattr(module, item, torch.nn.Module())
            module = getattr(module, item)
        if isinstance(given, torch.Tensor) and not isinstance(given, torch.nn.Parameter):
            module.register_buffer(field, given)
        else:
            setattr(module, field, given)

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
        self._last_uses, self._order, self._text = self._graph._last_uses(), list(self._graph.nodes), None
        return self._graph

    @property
    def code(self):
        if self._text is None:
            self._text = self._graph.python_code("self").src
        return self._text

    def __str__(self):
        return "\n".join(
            [super().__str__(), self.code, "# To see more debug info, please use `graph_module.print_readable()`"]
        )

    def print_readable(self, print_output=True, **options):
        text = self.code.replace("def forward(", f"def forward(", 1)
        lines = "\n".join("    " + line for line in text.strip("\n").split("\n"))
        text = f"class {self._name_of_class}(torch.nn.Module):\n{lines}"
        if print_output:
            print(text)
        return text

    def add_submodule(self, target, m):
        *prefix, field = target.split(".")
        module = self
        for item in prefix:
            inner = getattr(module, item, None)
            if inner is None:
                inner = torch.nn.Module()
                setattr(module, item, inner)
            if not isinstance(inner, torch.nn.Module):
                return False
            module = inner
        module.add_module(field, m)
        return True

    def delete_submodule(self, target):
        *prefix, field = target.split(".")
        module = self
        for item in prefix:
            if not isinstance(getattr(module, item, None), torch.nn.Module):
                return False
            module = getattr(module, item)
        if not isinstance(getattr(module, field, None), torch.nn.Module):
            return False
        delattr(module, field)
        return True

    def delete_all_unused_submodules(self):
        used = set()
        for node in self._graph.nodes:
            if node.op not in ("call_module", "get_attr"):
                continue
            parts = node.target.split(".")
            used.update(".".join(parts[:i]) for i in range(1, len(parts) + 1))
            if node.op == "call_module":
                try:
                    inner = self.get_submodule(node.target)
                except AttributeError:
                    continue
                used.update(f"{node.target}.{name}" for name, _ in inner.named_modules())
        for name in [name for name, _ in self.named_modules() if name not in used]:
            self.delete_submodule(name)

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
