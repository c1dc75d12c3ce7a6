"""operators of a program's own: what a dispatch key's function is, runs; what describes one to the compiler does
nothing.
Source: torch/library.py, torch/_library/custom_ops.py, torch/_library/autograd.py"""
import inspect

import _tidemark
import torch
from torch.autograd.function import Function

_OPERATORS = {}
_ABOVE_AUTOGRAD = ("CompositeImplicitAutograd", "Autograd", "AutogradCUDA", "AutogradCPU", "")


def _same(function):
    return function


def _full_name(op):
    """`ns::name`; None: a compiled operator, whose rule is not Python's"""
    if isinstance(op, CustomOpDef):
        return op._qualname
    return op if isinstance(op, str) else None


def _operator(qualname):
    """the operator `ns::name`, made when it is first spoken of"""
    qualname = qualname.partition("(")[0].partition(".")[0]
    if qualname not in _OPERATORS:
        _OPERATORS[qualname] = CustomOpDef(qualname)
    return _OPERATORS[qualname]


def find_operator(namespace, name):
    """what torch.ops has of a program's own; None: it has none of that name"""
    return _OPERATORS.get(f"{namespace}::{name}")


def _parameter_names(schema):
    inside = schema[schema.index("(") + 1 : schema.rindex("->")].rpartition(")")[0]
    parts, depth = [""], 0
    for letter in inside:
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    words = [part.strip() for part in parts]
    return [w.partition("=")[0].split()[-1] for w in words if w and w != "*"]


def _tensors_in(values):
    for value in values:
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from _tensors_in(value)


class CustomOpDef:
    """an operator: its functions by device and dispatch key, and its backward"""

    def __init__(self, qualname):
        self._qualname = qualname
        self._namespace, _, self._name = qualname.partition("::")
        self.__name__ = self._name
        self._kernels = {}
        self._schema = None
        self._backward = self._setup_context = None

    def __call__(self, *args, **kwargs):
        args = self._bound(args, kwargs)
        for key in _ABOVE_AUTOGRAD:
            if key in self._kernels:
                return self._kernels[key](*args)
        needs_grad = torch.is_grad_enabled() and any(t.requires_grad for t in _tensors_in(args))
        if needs_grad:
            return self._function().apply(*args)
        with torch.no_grad():
            return self._run(args)

    def _bound(self, args, kwargs):
        """the arguments by position, as the dispatcher hands them on"""
        if not kwargs:
            return args
        names = [] if self._schema is None else _parameter_names(self._schema)
        if not names:
            for function in self._kernels.values():
                names = list(inspect.signature(function).parameters)
                break
        given = list(args)
        for name in names[len(args) :]:
            if name not in kwargs:
                break
            given.append(kwargs.pop(name))
        if kwargs:
            raise TypeError(f"{self._qualname}() got an unexpected keyword argument '{next(iter(kwargs))}'")
        return tuple(given)

    def _run(self, args):
        device = next((t.device.type for t in _tensors_in(args)), "cpu")
        for key in (device.upper(), device, "CompositeExplicitAutograd", None):
            if key in self._kernels:
                return self._kernels[key](*args)
        _tidemark.refuse(
            f"the operator {self._qualname} has no function for '{device}' that is code of Python's",
            "declare it as a custom op: docs/scenario.md, 'Custom ops'",
        )

    def _function(self):
        own = self

        class Generated(Function):
            @staticmethod
            def forward(ctx, *args):
                with torch.no_grad():
                    result = own._run(args)
                if own._setup_context is not None:
                    own._setup_context(ctx=ctx, inputs=args, output=result)
                return result

            @staticmethod
            def backward(ctx, *grads):
                if own._backward is None:
                    raise RuntimeError(
                        f"Trying to backward through {own._qualname}.default but no autograd formula was registered. "
                        "Please use register_autograd to add one."
                    )
                return own._backward(ctx, *grads)

        Generated.__name__ = f"GeneratedBackwardFor_{self._namespace}_{self._name}_default"
        return Generated

    def register_fake(self, fn, /):
        return fn

    register_vmap = register_torch_dispatch = register_fake

    def register_kernel(self, device_types, fn=None, /):
        def register(function):
            kinds = [device_types] if device_types is None or isinstance(device_types, str) else device_types
            for kind in kinds:
                self._kernels[kind] = function
            return function

        return register if fn is None else register(fn)

    def register_autograd(self, backward, /, *, setup_context=None):
        self._backward, self._setup_context = backward, setup_context

    def register_autocast(self, device_type, cast_inputs):
        _tidemark.refuse(f"register_autocast ({self._qualname}) is not modelled", "cast the inputs before the call")

    @property
    def default(self):
        return self

    _opoverload = default

    def overloads(self):
        return ["default"]

    def __repr__(self):
        return f"<CustomOpDef({self._qualname})>"


def custom_op(name, fn=None, /, *, mutates_args=(), device_types=None, schema=None, tags=None):
    def register(function):
        op = _operator(name)
        op._schema = schema
        op.register_kernel(device_types, function)
        return op

    return register if fn is None else register(fn)


triton_op = custom_op


def register_fake(op, func=None, /, *, lib=None, _stacklevel=1, allow_override=False):
    return _same if func is None else func


register_vmap = impl_abstract = register_torch_dispatch = register_fake


def register_kernel(op, device_types, func=None, /, *, lib=None):
    return _operator(_full_name(op)).register_kernel(device_types, func)


def register_autocast(op, device_type, cast_inputs, /, *, lib=None):
    _operator(_full_name(op)).register_autocast(device_type, cast_inputs)


def register_autograd(op, backward, /, *, setup_context=None, lib=None):
    _operator(_full_name(op)).register_autograd(backward, setup_context=setup_context)


def wrap_triton(triton_kernel):
    return triton_kernel


class Library:
    """operators of one namespace, whose functions are given by dispatch key"""

    def __init__(self, ns, kind, dispatch_key=""):
        self.ns, self.kind, self.dispatch_key = ns, kind, dispatch_key

    def define(self, schema, alias_analysis="", *, tags=()):
        name = schema.partition("(")[0].strip()
        _operator(f"{self.ns}::{name}")._schema = schema
        return name

    def impl(self, op_name, fn=None, dispatch_key="", *, with_keyset=False, allow_override=False):
        name = _full_name(op_name)
        if name is None:
            return _same if fn is None else fn
        qualname = name if "::" in name else f"{self.ns}::{name}"
        if self.ns == "aten":
            _tidemark.refuse(f"a function of a program's own for {qualname} is not modelled")
        return _operator(qualname).register_kernel(dispatch_key or self.dispatch_key, fn)


def impl(qualname, types, func=None, *, lib=None):
    kinds = [types] if isinstance(types, str) else types
    return _operator(qualname).register_kernel([None if kind == "default" else kind for kind in kinds], func)


def define(qualname, schema, *, lib=None, tags=()):
    _operator(qualname)._schema = qualname + schema


def opcheck(op, args, kwargs=None, **options):
    return {}
