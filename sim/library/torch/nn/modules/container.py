import torch
from collections import OrderedDict
from torch.nn.modules.module import Module


class _Numbered(Module):
    """modules under the names 0, 1, 2 and so on, unless they were given others"""

    def _children(self):
        return [module for name, module in self._module_items()]

    def _name_at(self, index):
        if not -len(self) <= index < len(self):
            raise IndexError(f"index {index} is out of range")
        return self._module_items()[index][0]

    def __setitem__(self, index, module):
        setattr(self, self._name_at(index), module)

    def __delitem__(self, index):
        names = [name for name, module in self._module_items()]
        for name in names[index] if isinstance(index, slice) else [self._name_at(index)]:
            delattr(self, name)
        left = self._children()
        self._modules.clear()
        for i, module in enumerate(left):
            self.add_module(str(i), module)

    def __len__(self):
        return len(self._module_items())

    def __iter__(self):
        return iter(self._children())

    def append(self, module):
        self.add_module(str(len(self)), module)
        return self

    def _insert(self, index, module):
        modules = self._children()
        for i in range(len(modules), index, -1):
            self.add_module(str(i), modules[i - 1])
        self.add_module(str(index), module)

    def pop(self, key):
        module = self[key]
        del self[key]
        return module


class Sequential(_Numbered):
    def __init__(self, *args):
        super().__init__()
        if len(args) == 1 and isinstance(args[0], OrderedDict):
            for key, module in args[0].items():
                self.add_module(key, module)
        else:
            for i, module in enumerate(args):
                self.add_module(str(i), module)

    def __getitem__(self, index):
        if isinstance(index, slice):
            return type(self)(OrderedDict(self._module_items()[index]))
        return self._modules[self._name_at(index)]

    def extend(self, sequential):
        for module in sequential:
            self.append(module)
        return self

    def insert(self, index, module):
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        n = len(self)
        if not -n <= index <= n:
            raise IndexError(f"Index out of range: {index}")
        self._insert(index + n if index < 0 else index, module)
        return self

    def __add__(self, other):
        if not isinstance(other, Sequential):
            raise ValueError(f"add operator supports only objects of Sequential class, but {type(other)} is given.")
        return Sequential(*self._children(), *other._children())

    def __iadd__(self, other):
        if not isinstance(other, Sequential):
            raise ValueError(f"add operator supports only objects of Sequential class, but {type(other)} is given.")
        offset = len(self)
        for i, module in enumerate(other._children()):
            self.add_module(str(i + offset), module)
        return self

    def __mul__(self, times):
        if not isinstance(times, int):
            raise TypeError(f"unsupported operand type(s) for *: {type(self)} and {type(times)}")
        if times <= 0:
            raise ValueError(f"Non-positive multiplication factor {times} for {type(self)}")
        return Sequential(*(self._children() * times))

    def __rmul__(self, times):
        return self * times

    def __imul__(self, times):
        if times <= 0:
            raise ValueError(f"Non-positive multiplication factor {times} for {type(self)}")
        children, n = self._children(), len(self)
        for i in range(n, n * times):
            self.add_module(str(i), children[i % n])
        return self

    def forward(self, input):
        for module in self:
            input = module(input)
        return input


class ModuleList(_Numbered):
    def __init__(self, modules=None):
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def __getitem__(self, index):
        if isinstance(index, slice):
            return type(self)(self._children()[index])
        return self._modules[self._name_at(index)]

    def extend(self, modules):
        if not hasattr(modules, "__iter__"):
            raise TypeError("ModuleList.extend should be called with an iterable, but got " + type(modules).__name__)
        offset = len(self)
        for i, module in enumerate(modules):
            self.add_module(str(offset + i), module)
        return self

    def insert(self, index, module):
        self._insert(index, module)

    def __iadd__(self, modules):
        return self.extend(modules)

    def __add__(self, other):
        return ModuleList([*self._children(), *other])

    def __repr__(self):
        """like neighbours are one line"""
        runs = []
        for i, text in enumerate([repr(module) for module in self]):
            if runs and runs[-1][2] == text:
                runs[-1][1] = i
            else:
                runs.append([i, i, text])
        if not runs:
            return self._get_name() + "()"
        lines = [f"({a}): {text}" if a == b else f"({a}-{b}): {b - a + 1} x {text}" for a, b, text in runs]
        return self._get_name() + "(\n  " + "\n  ".join([line.replace("\n", "\n  ") for line in lines]) + "\n)"


class ModuleDict(Module):
    def __init__(self, modules=None):
        super().__init__()
        if modules is not None:
            self.update(modules)

    def update(self, modules):
        if not hasattr(modules, "__iter__"):
            raise TypeError(
                "ModuleDict.update should be called with an iterable of key/value pairs, but got "
                + type(modules).__name__
            )
        for key, module in modules.items() if hasattr(modules, "items") else modules:
            self[key] = module

    def __getitem__(self, key):
        return self._modules[key]

    def __setitem__(self, key, module):
        self.add_module(key, module)

    def __delitem__(self, key):
        del self._modules[key]

    def __len__(self):
        return len(self._module_items())

    def __iter__(self):
        return iter(self.keys())

    def __contains__(self, key):
        return key in self._modules

    def clear(self):
        self._modules.clear()

    def pop(self, key):
        module = self[key]
        del self[key]
        return module

    def keys(self):
        return self._modules.keys()

    def values(self):
        return self._modules.values()

    def items(self):
        return self._modules.items()


def _as_parameter(value):
    return (
        torch.nn.Parameter(value)
        if isinstance(value, torch.Tensor) and not isinstance(value, torch.nn.Parameter)
        else value
    )


def _kept_in_words(name, value, type_of):
    """what ParameterList and ParameterDict say of one value"""
    if not isinstance(value, torch.Tensor):
        return f"  ({name}): Object of type: {type(value).__name__}"
    kind = "Parameter" if isinstance(value, torch.nn.Parameter) else "Tensor"
    size = "x".join([str(n) for n in value.size()])
    place = f" ({value.device})" if value.is_cuda else ""
    return f"  ({name}): {kind} containing: [{type_of(value)} of size {size}{place}]"


class ParameterList(Module):
    def __init__(self, values=None):
        super().__init__()
        self._size = 0
        if values is not None:
            self.extend(values)

    def _name_at(self, index):
        if not -self._size <= index < self._size:
            raise IndexError(f"index {index} is out of range")
        return str(index % self._size)

    def append(self, value):
        self._size += 1
        self[self._size - 1] = value
        return self

    def extend(self, values):
        if not hasattr(values, "__iter__"):
            raise TypeError("ParameterList.extend should be called with an iterable, but got " + type(values).__name__)
        for value in values:
            self.append(value)
        return self

    def __iadd__(self, values):
        return self.extend(values)

    def __getitem__(self, index):
        if isinstance(index, slice):
            return type(self)([self[i] for i in range(self._size)[index]])
        return getattr(self, self._name_at(index))

    def __setitem__(self, index, value):
        setattr(self, self._name_at(index), _as_parameter(value))

    def extra_repr(self):
        return "\n".join([_kept_in_words(i, value, lambda t: t.dtype) for i, value in enumerate(self)])

    def __call__(self, *args, **kwargs):
        raise RuntimeError("ParameterList should not be called.")

    def __len__(self):
        return self._size

    def __iter__(self):
        return iter([self[i] for i in range(self._size)])


class ParameterDict(Module):
    def __init__(self, parameters=None):
        super().__init__()
        self._keys = {}
        if parameters is not None:
            self.update(parameters)

    def update(self, parameters):
        """a plain dict's keys are taken in their alphabetical order, as PyTorch does"""
        if not hasattr(parameters, "__iter__"):
            raise TypeError("ParametersDict.update should be called with an iterable of key/value pairs, but got "
                            + type(parameters).__name__)
        if isinstance(parameters, (OrderedDict, ParameterDict)):
            pairs = parameters.items()
        elif isinstance(parameters, dict):
            pairs = [(key, parameters[key]) for key in sorted(parameters)]
        else:
            pairs = parameters
        for key, value in pairs:
            self[key] = value

    def __getitem__(self, key):
        return getattr(self, key)

    def __setitem__(self, key, value):
        self._keys[key] = None
        setattr(self, key, _as_parameter(value))

    def __delitem__(self, key):
        del self._keys[key]
        delattr(self, key)

    def __len__(self):
        return len(self._keys)

    def __iter__(self):
        return iter(self._keys)

    def __contains__(self, key):
        return key in self._keys

    def get(self, key, default=None):
        return self[key] if key in self else default

    def setdefault(self, key, default=None):
        if key not in self:
            self[key] = default
        return self[key]

    def pop(self, key):
        value = self[key]
        del self[key]
        return value

    def popitem(self):
        key = list(self._keys)[-1] if self._keys else self._keys.popitem()
        return key, self.pop(key)

    def clear(self):
        for key in list(self._keys):
            del self[key]

    def copy(self):
        return ParameterDict(OrderedDict([(key, self[key]) for key in self._keys]))

    def fromkeys(self, keys, default=None):
        return ParameterDict([(key, default) for key in keys])

    def keys(self):
        return self._keys.keys()

    def values(self):
        return (self[key] for key in self._keys)

    def items(self):
        return ((key, self[key]) for key in self._keys)

    def __reversed__(self):
        return reversed(self._keys)

    def __or__(self, other):
        out = self.copy()
        out.update(other)
        return out

    def __ror__(self, other):
        out = other.copy()
        out.update(self)
        return out

    def __ior__(self, other):
        self.update(other)
        return self

    def extra_repr(self):
        return "\n".join([_kept_in_words(key, value, torch.typename) for key, value in self.items()])

    def __call__(self, input):
        raise RuntimeError("ParameterDict should not be called.")
