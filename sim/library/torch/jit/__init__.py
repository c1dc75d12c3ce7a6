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


def script(obj, optimize=None, _frames_up=0, _rcb=None, example_inputs=None):
    return obj


def _overload(func):
    return func


_overload_method = _overload


def fork(func, *args, **kwargs):
    return func(*args, **kwargs)


def wait(future):
    return future


def isinstance(obj, target_type):
    return target_type is type(obj)


def is_scripting_or_tracing():
    return False


class _DisabledTracing:
    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass


def optimized_execution(should_optimize):
    return _DisabledTracing()


fuser = strict_fusion = optimized_execution


def set_fusion_strategy(strategy):
    return strategy


def trace(func, example_inputs=None, **options):
    _compiled("trace")


def script_method(fn):
    _compiled("script_method")


def freeze(mod, **options):
    _compiled("freeze")


class ScriptModule:
    def __init__(self, *args, **kwargs):
        _compiled("ScriptModule")


_script_if_tracing = script_if_tracing


def is_enabled():
    return False


def onednn_fusion_enabled():
    return False


def export_opnames(m):
    return []
