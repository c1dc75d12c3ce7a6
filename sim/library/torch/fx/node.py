import typing

import torch
from torch.fx import _printing

Target = typing.Union[typing.Callable, str]
Argument = typing.Any


def map_arg(a, fn):
    """`a` with fn() of each node in it"""
    return map_aggregate(a, lambda x: fn(x) if isinstance(x, Node) else x)


def map_aggregate(a, fn):
    if isinstance(a, tuple):
        items = [map_aggregate(each, fn) for each in a]
        return type(a)(*items) if hasattr(a, "_fields") else tuple(items)
    if isinstance(a, list):
        return [map_aggregate(each, fn) for each in a]
    if isinstance(a, dict):
        return type(a)((key, map_aggregate(each, fn)) for key, each in a.items())
    if isinstance(a, slice):
        return slice(map_aggregate(a.start, fn), map_aggregate(a.stop, fn), map_aggregate(a.step, fn))
    return fn(a)


class Node:
    """one value of a graph: `op` says what makes it of `target`, `args` and `kwargs`"""

    def __init__(self, graph, name, op, target, args, kwargs, return_type=None):
        self.graph, self.name, self.op, self.target, self.type = graph, name, op, target, return_type
        self.users, self.meta = {}, {}
        self._args, self._kwargs = (), {}
        self._take(args, kwargs)

    def _take(self, args, kwargs):
        for each in self.all_input_nodes:
            each.users.pop(self, None)
        self._args, self._kwargs = args, kwargs
        for each in self.all_input_nodes:
            each.users.setdefault(self)

    @property
    def args(self):
        return self._args

    @args.setter
    def args(self, args):
        self._take(args, self._kwargs)

    @property
    def kwargs(self):
        return self._kwargs

    @kwargs.setter
    def kwargs(self, kwargs):
        self._take(self._args, kwargs)

    @property
    def all_input_nodes(self):
        found = {}
        map_arg((self._args, self._kwargs), lambda n: found.setdefault(n))
        return list(found)

    @property
    def next(self):
        return self.graph._beside(self, 1)

    @property
    def prev(self):
        return self.graph._beside(self, -1)

    def append(self, x):
        self.graph._move(x, self, 1)

    def prepend(self, x):
        self.graph._move(x, self, 0)

    def replace_input_with(self, old_input, new_input):
        swap = lambda n: new_input if n is old_input else n
        self._take(map_arg(self._args, swap), map_arg(self._kwargs, swap))

    def replace_all_uses_with(self, replace_with, delete_user_cb=lambda user: True, *, propagate_meta=False):
        taken = [user for user in self.users if delete_user_cb(user)]
        for user in taken:
            user.replace_input_with(self, replace_with)
        return taken

    def is_impure(self, impure_random=True):
        if self.op in ("placeholder", "output"):
            return True
        if self.op == "call_module":
            return getattr(self.graph.owning_module.get_submodule(self.target), "_is_impure", False)
        return self.op == "call_function" and self.target is torch._assert

    def update_arg(self, idx, arg):
        args = list(self._args)
        args[idx] = arg
        self._take(tuple(args), self._kwargs)

    def insert_arg(self, idx, arg):
        self._take((*self._args[:idx], arg, *self._args[idx:]), self._kwargs)

    def update_kwarg(self, key, arg):
        self._take(self._args, {**self._kwargs, key: arg})

    @property
    def stack_trace(self):
        return self.meta.get("stack_trace")

    def format_node(self, placeholder_names=None, maybe_return_typename=None):
        kind = f"{_printing.type_text(self.type)} " if self.type else ""
        start = f"%{self.name} : {kind}[num_users={len(self.users)}] = {self.op}"
        if self.op == "placeholder":
            default = f"(default={self.args[0]})" if self.args else ""
            return f"{start}[target={self.target}]{default}"
        if self.op == "output":
            return f"return {self.args[0]}"
        start += f"[target={_printing.short_target(self.target)}]"
        if self.op == "get_attr":
            return start
        args, kwargs = _printing.argument_text(self.args), _printing.argument_text(self.kwargs)
        return f"{start}(args = {args}, kwargs = {kwargs})"

    def __repr__(self):
        return self.name
