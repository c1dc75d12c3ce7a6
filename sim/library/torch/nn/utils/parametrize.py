import torch
import torch._C as _C
from contextlib import contextmanager
from torch.nn import Parameter
from torch.nn.modules.container import ModuleDict, ModuleList


class ParametrizationList(ModuleList):
    """what makes a tensor of a module out of one or several originals"""

    def __init__(self, modules, original, unsafe=False):
        super().__init__(modules)
        self.unsafe = unsafe
        new = original
        with torch.no_grad():
            for module in reversed(self):
                if hasattr(module, "right_inverse"):
                    new = module.right_inverse(new)
        self.is_tensor = isinstance(new, torch.Tensor)
        self.ntensors = 1 if self.is_tensor else len(new)
        is_parameter = isinstance(original, Parameter)
        if self.is_tensor:
            if is_parameter:
                if new is not original:
                    original.data = new.data
                self.original = original
            else:
                self.register_buffer("original", original)
        else:
            for i, part in enumerate(new):
                if is_parameter:
                    self.register_parameter(
                        f"original{i}", Parameter(part.data if isinstance(part, Parameter) else part)
                    )
                else:
                    self.register_buffer(f"original{i}", part)
        if not unsafe:
            made = self()  # torch looks at its type and shape
            if made.shape != original.shape:
                raise ValueError(
                    "The shape of the result of a parametrization must be that of the original "
                    "tensor unless unsafe=True"
                )

    def forward(self):
        if not _Cache.depth:
            return self._make()
        if self not in _Cache.tensors:
            _Cache.tensors[self] = self._make()
        return _Cache.tensors[self]

    def _make(self):
        if self.is_tensor:
            x = self[0](self.original)
        else:
            x = self[0](*[getattr(self, f"original{i}") for i in range(self.ntensors)])
        for i in range(1, len(self)):
            x = self[i](x)
        return x


def register_parametrization(module, tensor_name, parametrization, *, unsafe=False):
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        if not unsafe:
            before = getattr(module, tensor_name)
            after = parametrization(before)
            if hasattr(parametrization, "right_inverse"):
                back = parametrization.right_inverse(after)
        module.parametrizations[tensor_name].append(parametrization)
        return module
    original = getattr(module, tensor_name)
    listed = ParametrizationList([parametrization], original, unsafe)
    delattr(module, tensor_name)
    if not is_parametrized(module):
        module.parametrizations = ModuleDict()
    module.parametrizations[tensor_name] = listed
    return module


def is_parametrized(module, tensor_name=None):
    found = [child for name, child in module._module_items() if name == "parametrizations"]
    if not found or not isinstance(found[0], ModuleDict):
        return False
    return len(found[0]) > 0 if tensor_name is None else tensor_name in found[0]


def type_before_parametrizations(module):
    return type(module)


def remove_parametrizations(module, tensor_name, leave_parametrized=True):
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    listed = module.parametrizations[tensor_name]
    if leave_parametrized:
        with torch.no_grad():
            value = getattr(module, tensor_name)
        if listed.is_tensor:
            kept = listed.original
            kept.data = value
        else:
            kept = Parameter(value)
    elif listed.is_tensor:
        kept = listed.original
    else:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in terms of a "
            "sequence of tensors."
        )
    del module.parametrizations[tensor_name]
    if len(module.parametrizations) == 0:
        delattr(module, "parametrizations")
    if isinstance(kept, Parameter):
        module.register_parameter(tensor_name, kept)
    else:
        module.register_buffer(tensor_name, kept)
    return module


class _Cache:
    """what is computed within cached(): one tensor a parametrization"""

    depth = 0
    tensors = {}


@contextmanager
def cached():
    _Cache.depth += 1
    try:
        yield
    finally:
        _Cache.depth -= 1
        if not _Cache.depth:
            _Cache.tensors = {}


def transfer_parametrizations_and_params(from_module, to_module, tensor_name=None):
    _C.refuse("transfer_parametrizations_and_params is not modelled", "register the parametrizations again")
