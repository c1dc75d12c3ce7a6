import fnmatch
from torch.distributed.tensor._api import _mesh
from torch.distributed.tensor.parallel.style import ParallelStyle


def parallelize_module(module, device_mesh=None, parallelize_plan=None, *, src_data_rank=0):
    """applies a style to a module, or styles to those below it that patterns of names meet"""
    device_mesh = _mesh(device_mesh)
    if parallelize_plan is None:
        return module
    if isinstance(parallelize_plan, ParallelStyle):
        parallelize_plan.src_data_rank = src_data_rank
        return parallelize_plan._apply(module, device_mesh)
    if not isinstance(parallelize_plan, dict):
        raise TypeError(
            "Expect Union[ParallelStyle, Dict[str, ParallelStyle]] for parallelize_plan, "
            f"{type(parallelize_plan)} found!"
        )
    for path, style in parallelize_plan.items():
        first, _, rest = path.partition(".")
        if path == "":
            parallelize_module(module, device_mesh, style)
            continue
        for name, child in module.named_children():
            if fnmatch.fnmatch(name, first):
                parallelize_module(child, device_mesh, {rest: style} if rest else style, src_data_rank=src_data_rank)
    return module
