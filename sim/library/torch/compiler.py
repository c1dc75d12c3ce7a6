"""What a program says to torch.compile. Its code runs as it stands, so that nothing comes of it."""
import torch
from torch.utils._config_module import patch as _patch


def compile(*args, **kwargs):
    return torch.compile(*args, **kwargs)


def disable(fn=None, recursive=True, *, reason=None):
    return (lambda f: f) if fn is None else fn


allow_in_graph = assume_constant_result = nested_compile_region = wrap_numpy = disable


def substitute_in_graph(original_fn, *, can_constant_fold_through=False, skip_signature_check=False):
    return lambda traceable_fn: traceable_fn


def is_compiling():
    return False


is_dynamo_compiling = is_exporting = is_compiling


def _nothing(*args, **kwargs):
    pass


reset = cudagraph_mark_step_begin = set_enable_guard_collectives = _nothing
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
