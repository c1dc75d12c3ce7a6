import copy
from torch import nn
from torch.nn.utils.fusion import fuse_conv_bn_eval, fuse_linear_bn_eval
import _tidemark

_convolutions = (nn.Conv1d, nn.Conv2d, nn.Conv3d)
_transposed = (nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d)
_norms = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)


class _FusedModule(nn.Sequential):
    """a module and the activation after it"""


def _fused(modules):
    """The one module that does what these do after one another, in evaluation."""
    first, rest = modules[0], list(modules[1:])
    if len({each.training for each in modules}) > 1:
        raise AssertionError("Conv and BN both must be in the same mode (train or eval).")
    kinds = _convolutions + _transposed + (nn.Linear,)
    if rest and isinstance(first, kinds) and isinstance(rest[0], _norms):
        norm = rest.pop(0)
        if isinstance(first, nn.Linear):
            first = fuse_linear_bn_eval(first, norm)
        else:
            first = fuse_conv_bn_eval(first, norm, transpose=isinstance(first, _transposed))
    if len(rest) > 1 or (rest and not isinstance(rest[0], nn.ReLU)) or not isinstance(first, kinds + _norms):
        raise NotImplementedError(f"Cannot fuse modules: {tuple(type(each) for each in modules)}")
    return _FusedModule(first, rest[0]) if rest else first


def fuse_known_modules(mod_list, is_qat, additional_fuser_method_mapping=None):
    if is_qat:
        _tidemark.refuse("fusing for quantization-aware training is not modelled", "leave it out")
    fused = _fused(mod_list)
    for hook in mod_list[0]._forward_pre_hooks.values():
        fused.register_forward_pre_hook(hook)
    mod_list[0]._forward_pre_hooks.clear()
    for hook in mod_list[-1]._forward_hooks.values():
        fused.register_forward_hook(hook)
    mod_list[-1]._forward_hooks.clear()
    out = [fused]
    for _ in mod_list[1:]:
        identity = nn.Identity()
        identity.training = mod_list[0].training
        out.append(identity)
    return out


def _fuse_group(model, names, is_qat, fuser):
    made = fuser([model.get_submodule(name) for name in names], is_qat, {})
    for name, module in zip(names, made):
        parent, _, last = name.rpartition(".")
        setattr(model.get_submodule(parent), last, module)


def fuse_modules(
    model, modules_to_fuse, inplace=False, fuser_func=fuse_known_modules, fuse_custom_config_dict=None, is_qat=False
):
    if not inplace:
        model = copy.deepcopy(model)
    if all(isinstance(each, str) for each in modules_to_fuse):
        modules_to_fuse = [modules_to_fuse]
    for names in modules_to_fuse:
        _fuse_group(model, names, is_qat, fuser_func)
    return model


def fuse_modules_qat(
    model, modules_to_fuse, inplace=False, fuser_func=fuse_known_modules, fuse_custom_config_dict=None
):
    return fuse_modules(model, modules_to_fuse, inplace, fuser_func, fuse_custom_config_dict, True)
