import torch._C as _C


# What a program says to torch.compile, which is not modelled: its code runs as it stands.


def disable(fn=None, recursive=True, *, reason=None):
    return (lambda f: f) if fn is None else fn


allow_in_graph = assume_constant_result = forbid_in_graph = disable


def is_compiling():
    return False


is_dynamo_compiling = is_exporting = is_compiling


def cudagraph_mark_step_begin():
    pass


reset = graph_break = cudagraph_mark_step_begin


def mark_dynamic(t, index, **options):
    pass


mark_static = mark_dynamic


class set_stance:
    def __init__(self, *args, **kwargs):
        pass

    def __enter__(self):
        pass

    def __exit__(self, *error):
        return False


def list_backends(exclude_tags=()):
    return ["cudagraphs", "inductor", "onnxrt", "openxla", "tvm"]


class _Config:
    """takes any setting"""


config = _Config()


def compile(*args, **kwargs):
    _C.refuse("torch.compile is not modelled", "run the model without it: compiled memory is another matter")


optimize = compile
