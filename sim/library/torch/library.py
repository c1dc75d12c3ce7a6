"""operators of a program's own: see custom ops (docs/scenario.md); what describes one to the compiler does nothing"""
import torch._C as _C


def _same(function):
    return function


def register_fake(op, func=None, /, *, lib=None, _stacklevel=1, allow_override=False):
    return _same if func is None else func


register_kernel = register_autocast = register_vmap = impl_abstract = register_fake


def register_autograd(op, backward, /, *, setup_context=None, lib=None):
    pass


def custom_op(name, fn=None, /, *, mutates_args=(), device_types=None, schema=None, tags=None):
    _C.refuse(
        f"torch.library.custom_op ({name}) is not modelled", "declare it as a custom op: docs/scenario.md, 'Custom ops'"
    )


def wrap_triton(triton_kernel):
    return triton_kernel


class Library:
    def __init__(self, ns, kind, dispatch_key=""):
        self.ns, self.kind = ns, kind

    def define(self, schema, alias_analysis="", *, tags=()):
        return schema.partition("(")[0]

    def impl(self, op_name, fn=None, dispatch_key="", **options):
        return _same if fn is None else fn


def impl(qualname, types, func=None, *, lib=None):
    return _same if func is None else func


def define(qualname, schema, *, lib=None, tags=()):
    pass


def opcheck(op, args, kwargs=None, **options):
    return {}
