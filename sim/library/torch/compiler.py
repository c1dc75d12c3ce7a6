"""What a program says to torch.compile. Of most nothing comes: its code runs as it stands, or is captured whole."""
import functools
import torch
import torch._C as _C
from torch.utils._config_module import patch as _patch


def compile(*args, **kwargs):
    return torch.compile(*args, **kwargs)


def disable(fn=None, recursive=True, *, reason=None):
    if fn is None:
        return lambda f: disable(f)
    if _C.compile_mode() != "model" or isinstance(fn, torch.nn.Module):
        return fn

    @functools.wraps(fn)
    def disabled(*args, **kwargs):
        left = _C.leave_graph("a function that is not to be compiled")
        result = fn(*args, **kwargs)
        if left:
            _C.enter_graph()
        return result

    return disabled


def allow_in_graph(fn):
    return fn


assume_constant_result = nested_compile_region = wrap_numpy = allow_in_graph


def substitute_in_graph(original_fn, *, can_constant_fold_through=False, skip_signature_check=False):
    return lambda traceable_fn: traceable_fn


def is_compiling():
    return _C.is_compiling()


is_dynamo_compiling = is_compiling


def is_exporting():
    return _C.is_compiling()  # as Dynamo answers where it traces: _dynamo/variables/torch.py


def _nothing(*args, **kwargs):
    pass


def cudagraph_mark_step_begin():
    from torch._inductor import cudagraph_trees

    cudagraph_trees.mark_step_begin()


reset = set_enable_guard_collectives = _nothing
load_cache_artifacts = save_cache_artifacts = _nothing


class set_stance(_patch):
    """a function, a context manager and a decorator in one"""

    def __init__(self, stance="default", *, skip_guard_eval_unsafe=False, force_backend=None):
        pass


def list_backends(exclude_tags=("debug", "experimental")):
    return ["cudagraphs", "inductor", "onnxrt", "openxla", "tvm"]


def keep_tensor_guards_unsafe(guard_entries, keep_parameters=False):
    return [True for each in guard_entries]


skip_guard_on_inbuilt_nn_modules_unsafe = skip_guard_on_all_nn_modules_unsafe = keep_tensor_guards_unsafe
skip_guard_on_globals_unsafe = skip_all_guards_unsafe = keep_portable_guards_unsafe = keep_tensor_guards_unsafe
