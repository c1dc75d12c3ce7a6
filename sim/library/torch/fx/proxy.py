import operator

import torch
from torch.fx.node import Node
from torch.overrides import TorchFunctionMode


class TraceError(ValueError):
    pass


class Proxy:
    """stands for a value while a module's code is looked at: what is done with it becomes a node"""

    def __init__(self, node, tracer=None):
        self.node, self.tracer = node, GraphAppendingTracer(node.graph) if tracer is None else tracer

    def __repr__(self):
        return f"Proxy({self.node.name})"

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Attribute(self, name)

    def __call__(self, *args, **kwargs):
        return self.tracer.create_proxy("call_method", "__call__", (self, *args), kwargs)

    def __unpack_into__(self, count):
        return tuple(self[i] for i in range(count))

    def __iter__(self):
        raise TraceError(
            "Proxy object cannot be iterated. This can be attempted when the Proxy is used in a loop or as a *args or "
            "**kwargs function argument."
        )

    def __bool__(self):
        raise TraceError("symbolically traced variables cannot be used as inputs to control flow")

    def __len__(self):
        raise RuntimeError(
            "'len' is not supported in symbolic tracing by default. If you want this call to be recorded, please call "
            "torch.fx.wrap('len') at module scope"
        )

    def __hash__(self):
        return id(self)

    @classmethod
    def __torch_function__(cls, orig_method, types, args=None, kwargs=None):
        """a call of torch's with a Proxy where no code is looked at: it goes to the graph of the Proxy's own tracer"""
        found = []
        _proxies((args, kwargs), found)
        return _recorded(found[0].tracer, orig_method, args or (), kwargs or {})


class Attribute(Proxy):
    def __init__(self, root, attr):
        self.root, self.attr, self.tracer, self._node = root, attr, root.tracer, None

    @property
    def node(self):
        if self._node is None:
            self._node = self.tracer.create_proxy("call_function", getattr, (self.root, self.attr), {}).node
        return self._node

    def __call__(self, *args, **kwargs):
        return self.tracer.create_proxy("call_method", self.attr, (self.root, *args), kwargs)


class ParameterProxy(Proxy):
    """a module's own parameter, which becomes a node when it is used"""

    def __init__(self, tracer, path):
        self.tracer, self._path, self._node = tracer, path, None

    @property
    def node(self):
        if self._node is None:
            self._node = self.tracer.create_proxy("get_attr", self._path, (), {}).node
        return self._node


def _add_operators():
    def method(target):
        return lambda self, *args: self.tracer.create_proxy("call_function", target, (self, *args), {})

    def reflected(target):
        return lambda self, other: self.tracer.create_proxy("call_function", target, (other, self), {})

    both = ("add", "sub", "mul", "floordiv", "truediv", "mod", "pow", "matmul")
    both += ("lshift", "rshift", "and_", "or_", "xor")
    for name in both + ("eq", "ne", "lt", "gt", "le", "ge", "pos", "neg", "invert", "getitem"):
        setattr(Proxy, f"__{name.rstrip('_')}__", method(getattr(operator, name)))
    for name in both:
        setattr(Proxy, f"__r{name.rstrip('_')}__", reflected(getattr(operator, name)))


_add_operators()


def has_proxy(value):
    if isinstance(value, (list, tuple)):
        return any(has_proxy(each) for each in value)
    if isinstance(value, dict):
        return any(has_proxy(each) for each in value.values())
    return isinstance(value, Proxy)


class Recording(TorchFunctionMode):
    """functions of torch's that are given a Proxy become nodes"""

    def __init__(self, tracer):
        self.tracer = tracer

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if not has_proxy(args) and not has_proxy(kwargs):
            return func(*args, **kwargs)
        return _recorded(self.tracer, func, args, kwargs)


def _recorded(tracer, func, args, kwargs):
    name = func.__name__
    if getattr(torch.Tensor, name, None) is func:
        return tracer.create_proxy("call_method", name, args, kwargs)
    return tracer.create_proxy("call_function", func, args, kwargs)


def _proxies(value, found):
    if isinstance(value, Proxy):
        found.append(value)
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ():
        _proxies(each, found)


class TracerBase:
    graph = None

    def create_node(self, kind, target, args, kwargs, name=None, type_expr=None):
        return self.graph.create_node(kind, target, args, kwargs, name, type_expr)

    def proxy(self, node):
        return Proxy(node, self)

    def create_proxy(self, kind, target, args, kwargs, name=None, type_expr=None, proxy_factory_fn=None):
        args = self.create_arg(args)
        kwargs = self.create_arg(kwargs)
        return self.proxy(self.create_node(kind, target, args, kwargs, name, type_expr))

    def create_arg(self, a):
        if isinstance(a, Proxy):
            return a.node
        if isinstance(a, tuple) and hasattr(a, "_fields"):
            return self.create_node("call_function", type(a), tuple(self.create_arg(each) for each in a), {})
        if isinstance(a, (tuple, list)):
            return type(a)([self.create_arg(each) for each in a])
        if isinstance(a, dict):
            return {key: self.create_arg(each) for key, each in a.items()}
        if isinstance(a, slice):
            return slice(self.create_arg(a.start), self.create_arg(a.stop), self.create_arg(a.step))
        return a


class GraphAppendingTracer(TracerBase):
    def __init__(self, graph):
        self.graph = graph
