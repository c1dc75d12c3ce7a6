import functools
import torch
from torch.distributed.tensor._api import DTensor

# A function of this rank's parts as one of DTensors. Source: torch.distributed.tensor.experimental._func_map


def local_map(
    func=None, out_placements=None, in_placements=None, in_grad_placements=None, device_mesh=None, *,
    redistribute_inputs=False
):
    if func is None:
        return lambda f: local_map(
            f, out_placements, in_placements, in_grad_placements, device_mesh, redistribute_inputs=redistribute_inputs
        )
    wanted = None if in_placements is None else tuple(in_placements)

    @functools.wraps(func)
    def run(*args, **kwargs):
        mesh, parts, has_dtensors = device_mesh, [], False
        for i, arg in enumerate(args):
            if not isinstance(arg, DTensor):
                parts.append(arg)
                continue
            has_dtensors = True
            mesh = arg.device_mesh if mesh is None else mesh
            placements = None if wanted is None else wanted[i]
            if placements is not None and list(arg.placements) != list(placements):
                if not redistribute_inputs:
                    raise ValueError(
                        f"arg {arg} in local_map has a mismatched placements: arg placements is {arg.placements} but "
                        f"the input placements is {placements}! If redistribute_inputs is wanted, set "
                        "redistribute_inputs=True to local_map."
                    )
                arg = arg.redistribute(placements=placements)
            grads = None if in_grad_placements is None else in_grad_placements[i]
            parts.append(arg.to_local(grad_placements=grads))
        out = func(*parts, **kwargs)
        if not has_dtensors:
            return out
        if isinstance(out, (list, tuple)):
            laid = out_placements if isinstance(out_placements, tuple) else [out_placements] * len(out)
            return type(out)([_spread(o, mesh, p) for o, p in zip(out, laid)])
        is_one = isinstance(out_placements, tuple) and len(out_placements) == 1
        return _spread(out, mesh, out_placements[0] if is_one and _is_list(out_placements[0]) else out_placements)

    return run


def _is_list(value):
    return isinstance(value, (list, tuple))


def _spread(out, mesh, placements):
    if isinstance(out, torch.Tensor) and not isinstance(out, DTensor) and placements is not None:
        return DTensor.from_local(out, mesh, list(placements), run_check=False)
    return out
