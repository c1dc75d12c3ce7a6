import torch._C as _C

# What a script says about itself to TorchScript; nothing is compiled.

Final = object


def ignore(drop=False, **options):
    return drop if callable(drop) else lambda fn: fn


def unused(fn):
    return fn


def export(fn):
    return fn


def interface(obj):
    return obj


def script_if_tracing(fn):
    return fn


def is_scripting():
    return False


def is_tracing():
    return False


def annotate(the_type, the_value):
    return the_value


def _compiled(name):
    _C.refuse(
        f"torch.jit.{name} is not modelled",
        "leave it out: compiled code fuses operators, and its memory is another matter",
    )


def script(obj, **options):
    _compiled("script")


def trace(func, example_inputs=None, **options):
    _compiled("trace")


def script_method(fn):
    _compiled("script_method")


def freeze(mod, **options):
    _compiled("freeze")


class ScriptModule:
    def __init__(self, *args, **kwargs):
        _compiled("ScriptModule")
