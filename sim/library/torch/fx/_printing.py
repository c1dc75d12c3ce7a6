"""graphs as text: the code that runs one, its list of nodes"""
import builtins
import enum
import operator
import types

import torch

BINARY = {
    "add": "+", "sub": "-", "mul": "*", "floordiv": "//", "truediv": "/", "div": "/", "mod": "%", "pow": "**",
    "lshift": "<<", "rshift": ">>", "and_": "&", "or_": "|", "xor": "^", "matmul": "@",
    "eq": "==", "ne": "!=", "lt": "<", "gt": ">", "le": "<=", "ge": ">=",
}
UNARY = {"pos": "+", "neg": "-", "invert": "~"}
IN_PLACE = ("iadd", "iand", "ifloordiv", "ilshift", "imod", "imul", "imatmul", "ior", "ipow", "irshift", "isub")
IN_PLACE += ("itruediv", "ixor")
# What torch.nn.functional has from C++ under a module of its own.
OF_NN = {"avg_pool2d", "avg_pool3d", "gelu", "softplus", "softshrink", "linear", "one_hot", "log_sigmoid"}
OF_NN |= {"hardtanh_", "elu_", "leaky_relu_", "scaled_dot_product_attention"}


def type_text(kind):
    if isinstance(kind, type) and not isinstance(kind, types.GenericAlias):
        return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
    return "..." if kind is ... else repr(kind)


def is_of_torch(thing):
    module = getattr(thing, "__module__", None)
    if module is not None:
        return module.partition(".")[0] == "torch"
    places = (torch, torch.nn.functional, torch.Tensor)
    return any(getattr(place, getattr(thing, "__name__", ""), None) is thing for place in places)


def qualified_name(function):
    name = function.__name__
    if getattr(builtins, name, None) is function:
        return name
    if getattr(torch.Tensor, name, None) is function:
        return f"torch.Tensor.{name}"
    if getattr(torch, name, None) is function:
        return f"torch.{name}"
    if getattr(torch.nn.functional, name, None) is function:
        return f"torch._C._nn.{name}" if name in OF_NN else f"torch.nn.functional.{name}"
    if is_operator(function):
        return f"operator.{name}"
    return f"{getattr(function, '__module__', None) or 'torch'}.{name}"


def is_operator(function):
    """whether it is one of the module `operator`"""
    return getattr(operator, getattr(function, "__name__", ""), None) is function


def target_text(base, target):
    for part in target.split("."):
        base = f"{base}.{part}" if part.isidentifier() else f'getattr({base}, "{part}")'
    return base


def short_target(target):
    """as a list of nodes names what is called"""
    if isinstance(target, str):
        return target
    if getattr(builtins, target.__name__, None) is target:
        return f"builtins.{target.__name__}"
    return qualified_name(target)


def argument_text(arg):
    """as a list of nodes has it: nodes with their sign"""
    if isinstance(arg, list):
        return "[" + ", ".join(argument_text(a) for a in arg) + "]"
    if isinstance(arg, tuple):
        return "(" + ", ".join(argument_text(a) for a in arg) + ("," if len(arg) == 1 else "") + ")"
    if isinstance(arg, dict):
        return "{" + ", ".join(f"{k}: {argument_text(v)}" for k, v in arg.items()) + "}"
    return f"%{arg}" if isinstance(arg, torch.fx.Node) else str(arg)


class Code:
    """the text of a graph's forward, and what it names"""

    def __init__(self, graph, root):
        self.globals, self._graph, self._root = {}, graph, root
        self._parameters, self._body, self._wrapped, self._returns = [], [], {}, ""
        self._dropped = graph._last_uses()
        for node in graph.nodes:
            self._emit(node)
        body = "".join(self._body) or "pass\n"
        wrapped = "\n".join(f'torch.fx._symbolic_trace.wrap("{name}")' for name in self._wrapped)
        lines = "\n".join("    " + line for line in body.split("\n"))
        self.src = f"\n{wrapped}\n\ndef forward({', '.join([root, *self._parameters])}){self._returns}:\n{lines}"

    def _global(self, hint, thing):
        if is_of_torch(thing) and thing is not torch.device:
            return qualified_name(thing) if callable(thing) and not isinstance(thing, type) else type_text(thing)
        name = hint.replace(".", "_")
        while name in self.globals and self.globals[name] is not thing:
            name += "_1"
        self.globals[name] = thing
        return name

    def _value(self, arg):
        if isinstance(arg, torch.fx.Node):
            return repr(arg)
        if isinstance(arg, tuple) and hasattr(arg, "_fields"):
            return f"{self._global(qualified_name(type(arg)), type(arg))}({', '.join(map(self._value, arg))})"
        if isinstance(arg, enum.Enum):
            return f"{self._global(type(arg).__name__, type(arg))}.{arg.name}"
        if isinstance(arg, torch.Tensor):
            return f"torch.Tensor(size={list(arg.size())}, dtype={str(arg.dtype).split('.')[-1]})"
        if isinstance(arg, tuple):
            return "(" + ", ".join(map(self._value, arg)) + ("," if len(arg) == 1 else "") + ")"
        if isinstance(arg, list):
            return "[" + ", ".join(map(self._value, arg)) + "]"
        if isinstance(arg, slice):
            return f"slice({self._value(arg.start)}, {self._value(arg.stop)}, {self._value(arg.step)})"
        return repr(arg)

    def _arguments(self, args, kwargs):
        return ", ".join([self._value(a) for a in args] + [f"{k} = {self._value(v)}" for k, v in kwargs.items()])

    def _call(self, node):
        """what stands right of the sign, or all of the line where it stands for itself"""
        if node.op == "get_attr":
            return target_text(self._root, node.target)
        if node.op == "call_module":
            return f"{target_text(self._root, node.target)}({self._arguments(node.args, node.kwargs)})"
        if node.op == "call_method":
            called = target_text(self._value(node.args[0]), node.target)
            return f"{called}({self._arguments(node.args[1:], node.kwargs)})"
        target, name = node.target, node.target.__name__
        if is_operator(target):
            taken = [self._value(a) for a in node.args]
            if name in BINARY:
                return f"{taken[0]} {BINARY[name]} {taken[1]}"
            if name in UNARY:
                return f"{UNARY[name]}{taken[0]}"
            if name == "getitem":
                return f"{taken[0]}[{taken[1]}]"
        called = self._global(qualified_name(target), target)
        is_plain = len(node.args) == 2 and isinstance(node.args[1], str) and node.args[1].isidentifier()
        if called == "getattr" and is_plain:
            return f"{self._value(node.args[0])}.{node.args[1]}"
        if node.meta.get("is_wrapped"):
            self._wrapped.setdefault(called)
        return f"{called}({self._arguments(node.args, node.kwargs)})"

    def _emit(self, node):
        kind = "" if node.type is None else f" : {self._global(type_text(node.type), node.type)}"
        if node.op == "placeholder":
            default = f" = {self._value(node.args[0])}" if node.args else ""
            self._parameters.append(f"{node.target}{kind}{default}")
            if node.target.replace("*", "") != node.name:
                self._body.append(f"{node.name} = {node.target.replace('*', '')}\n")
            return
        if node.op == "output":
            if node.type is not None:
                self._returns = f" -> {self._global(type_text(node.type), node.type)}"
            self._body.append(f"return {self._value_of_output(node.args[0])}\n")
            return
        name = getattr(node.target, "__name__", "")
        if node.op == "call_function" and is_operator(node.target) and name in IN_PLACE:
            sign = BINARY.get(name[1:]) or BINARY[name[1:] + "_"]
            taken = [self._value(a) for a in node.args]
            self._body.append(f"{taken[0]} {sign}= {taken[1]};  {node.name}{kind} = {taken[0]}")
        else:
            self._body.append(f"{node.name}{kind} = {self._call(node)}")
        dropped = self._dropped.get(node, ())
        self._body.append(f";  {' = '.join([*map(repr, dropped), 'None'])}\n" if dropped else "\n")

    @staticmethod
    def _value_of_output(arg):
        return repr(arg)


def check(graph):
    """what makes a graph unfit to be run"""
    names, seen = set(), set()
    for node in graph.nodes:
        if node.op not in ("placeholder", "call_method", "call_module", "call_function", "get_attr", "output"):
            raise RuntimeError(f"Node {node} had unknown opcode {node.op}!")
        if node.graph is not graph:
            raise RuntimeError(f"Node '{node}' does not belong to this Graph!")
        for each in node.all_input_nodes:
            if each.graph is not graph:
                raise RuntimeError(
                    f"Argument '{each}' of Node '{node}' does not belong to this Graph, but was used as an argument! "
                    "If you are copying nodes from another graph, make sure to use ``arg_transform`` on node_copy() "
                    f"to remap values\n{graph}"
                )
            if each not in seen:
                raise RuntimeError(
                    f"Argument '{each}' of Node '{node}' was used before it has been defined! Please check that Nodes "
                    f"in the graph are topologically ordered\n{graph}"
                )
        seen.add(node)
        if node.name in names:
            raise RuntimeError(f"Node redefined name {node.name}!")
        names.add(node.name)
    if graph.owning_module is None:
        return
    for node in graph.nodes:
        if node.op == "call_function" and not callable(node.target):
            kind = type(node.target)
            raise ValueError(f"Node {node} target {node.target} has type {kind} but a Callable is expected")
        if node.op in ("get_attr", "call_module"):
            _check_target(graph, node)


def _check_target(graph, node):
    found, parts = graph.owning_module, node.target.split(".")
    for i, part in enumerate(parts):
        inner = getattr(found, part, None)
        if not hasattr(found, part):
            raise RuntimeError(
                f"Node {node} target {node.target} references nonexistent attribute {part} of {'.'.join(parts[:i])}"
            )
        is_last = i + 1 == len(parts)
        if node.op == "call_module" and is_last and not isinstance(inner, torch.nn.Module):
            raise RuntimeError(
                f"Node {node} target {node.target} {part} of {'.'.join(parts[:i])} does not reference an nn.Module"
            )
        found = inner
