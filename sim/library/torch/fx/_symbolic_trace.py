import builtins
import inspect
import math
import sys

import _tidemark
import torch
from torch.fx.graph import Graph
from torch.fx.graph_module import GraphModule
from torch.fx.proxy import ParameterProxy, Recording, TracerBase, has_proxy


class Tracer(TracerBase):
    def __init__(self, autowrap_modules=(math,), autowrap_functions=(), param_shapes_constant=False):
        self.root, self._paths = None, {}

    def is_leaf_module(self, m, module_qualified_name):
        return m.__module__.startswith(("torch.nn", "torch.ao.nn")) and not isinstance(m, torch.nn.Sequential)

    def path_of_module(self, mod):
        if id(mod) not in self._paths:
            raise NameError("module is not installed as a submodule")
        return self._paths[id(mod)]

    def call_module(self, m, forward, args, kwargs):
        name = self.path_of_module(m)
        if self.is_leaf_module(m, name):
            return self.create_proxy("call_module", name, args, kwargs)
        return forward(*args, **kwargs)

    def create_arg(self, a):
        if isinstance(a, torch.Tensor):
            for kind in (self.root.named_parameters(), self.root.named_buffers()):
                for name, each in kind:
                    if each is a:
                        return self.create_node("get_attr", name, (), {})
            number = 0
            while hasattr(self.root, f"_tensor_constant{number}"):
                number += 1
            setattr(self.root, f"_tensor_constant{number}", a)
            return self.create_node("get_attr", f"_tensor_constant{number}", (), {})
        if isinstance(a, torch.nn.Module):
            return self.create_node("get_attr", self.path_of_module(a), (), {})
        return super().create_arg(a)

    def _inputs_of(self, function, skips, concrete_args):
        given, named = [], {}
        for name, each in list(inspect.signature(function).parameters.items())[skips:]:
            if concrete_args is not None and name in concrete_args:
                one = concrete_args[name]
            else:
                default = () if each.default is inspect.Parameter.empty else (each.default,)
                kind = _annotated(function, name)
                one = self.create_proxy("placeholder", name, default, {}, type_expr=kind)
            if each.kind is inspect.Parameter.KEYWORD_ONLY:
                named[name] = one
            else:
                given.append(one)
        return given, named

    def trace(self, root, concrete_args=None):
        self.graph = Graph(tracer_cls=type(self))
        if not isinstance(root, torch.nn.Module):
            self.root = torch.nn.Module()
            given, named = self._inputs_of(root, 0, concrete_args)
            with Recording(self), _Whole(self):
                made = root(*given, **named)
            self.create_node("output", "output", (self.create_arg(made),), {})
            return self.graph
        self.root = root
        self._paths = {id(each): name for name, each in root.named_modules()}
        changed = []

        def recorded(module):
            forward = module.forward
            changed.append((module, module.__dict__.get("forward")))
            module.forward = lambda *args, **kwargs: self.call_module(module, forward, args, kwargs)

        if isinstance(root, GraphModule):
            inputs = [n for n in root.graph.nodes if n.op == "placeholder"]
            given = [self.create_proxy("placeholder", n.target, n.args, {}, type_expr=n.type) for n in inputs]
            named = {}
        else:
            given, named = self._inputs_of(type(root).forward, 1, concrete_args)
        hidden = []
        try:
            for path, each in root.named_modules():
                if each is not root:
                    recorded(each)
                if each is root or not self.is_leaf_module(each, path):
                    for name, parameter in each.named_parameters(recurse=False):
                        each.__dict__[name] = ParameterProxy(self, f"{path}.{name}" if path else name)
                        hidden.append((each, name))
            with Recording(self), _Whole(self):
                made = type(root).forward(root, *given, **named)
        finally:
            for module, name in hidden:
                del module.__dict__[name]
            for module, before in changed:
                if before is None:
                    del module.forward
                else:
                    module.forward = before
        self.create_node("output", "output", (self.create_arg(made),), {})
        return self.graph


def _annotated(function, name):
    kind = getattr(function, "__annotations__", {}).get(name)
    if not isinstance(kind, str):
        return kind
    try:
        return _tidemark.evaluate_in(function, kind)
    except Exception:
        return kind


def symbolic_trace(root, concrete_args=None):
    tracer = Tracer()
    graph = tracer.trace(root, concrete_args)
    name = type(root).__name__ if isinstance(root, torch.nn.Module) else root.__name__
    return GraphModule(tracer.root, graph, name)


_wrapped = []  # (module, name) of functions that a graph calls as they are


def wrap(fn_or_name):
    if not callable(fn_or_name) and not isinstance(fn_or_name, str):
        raise RuntimeError("Unsupported type for global function! Must be either a callable or string name")
    if callable(fn_or_name):
        _wrapped.append((fn_or_name.__module__, fn_or_name.__name__))
    else:
        _wrapped.append((sys._getframe(1).f_globals["__name__"], fn_or_name))
    return fn_or_name


class _Whole:
    """for as long as a graph is made, calls of wrapped functions with what is traced become its nodes"""

    def __init__(self, tracer):
        self._tracer, self._before = tracer, []

    def __enter__(self):
        for name, function in _wrapped:
            module = sys.modules[name]
            original = getattr(module, function, None) or getattr(builtins, function)
            self._before.append((module, function, module.__dict__.get(function)))
            setattr(module, function, self._called(original))

    def _called(self, original):
        def call(*args, **kwargs):
            if not has_proxy(args) and not has_proxy(kwargs):
                return original(*args, **kwargs)
            made = self._tracer.create_proxy("call_function", original, args, kwargs)
            made.node.meta["is_wrapped"] = True
            return made

        return call

    def __exit__(self, *error):
        for module, function, before in reversed(self._before):
            if before is None:
                delattr(module, function)
            else:
                setattr(module, function, before)
