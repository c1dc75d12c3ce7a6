"""The statements that rebuild a module's instance: submodules, parameters, buffers, attributes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any, Optional

import torch
from torch import nn

from tidemark._torch._values import Unsupported, literal_text, tensor_text

_RECURRENT = ("input_size", "hidden_size", "num_layers", "bias", "batch_first", "dropout", "bidirectional", "proj_size")
_CONTAINERS = (nn.Sequential, nn.ModuleList, nn.ModuleDict)
_FORWARD_HOOKS = ("_forward_hooks", "_forward_pre_hooks")
_BACKWARD_HOOKS = ("_backward_hooks", "_backward_pre_hooks")


def is_library(kind: type) -> bool:
    """A class of torch.nn itself."""
    return kind.__module__.startswith("torch.nn.modules.") and getattr(nn, kind.__name__, None) is kind


def _encoder_layer(layer: Any) -> dict[str, Any]:
    return {
        "d_model": layer.self_attn.embed_dim,
        "nhead": layer.self_attn.num_heads,
        "dim_feedforward": layer.linear1.out_features,
        "dropout": layer.dropout.p,
        "activation": getattr(layer.activation, "__name__", None),
        "layer_norm_eps": layer.norm1.eps,
        "batch_first": layer.self_attn.batch_first,
        "norm_first": layer.norm_first,
        "bias": layer.linear1.bias is not None,
    }


def _attention(layer: Any) -> dict[str, Any]:
    return {"bias": layer.in_proj_bias is not None, "add_bias_kv": layer.bias_k is not None}


def _recurrent(layer: Any) -> dict[str, Any]:
    return {name: getattr(layer, name) for name in _RECURRENT if name != "proj_size" or layer.proj_size}


# What cannot be read off attributes of the constructor's own names.
_ARGUMENTS: dict[type, Callable[[Any], dict[str, Any]]] = {
    nn.Identity: lambda layer: {},
    nn.LSTM: _recurrent,
    nn.GRU: _recurrent,
    nn.RNN: lambda layer: {**_recurrent(layer), "nonlinearity": layer.nonlinearity},
    nn.MultiheadAttention: _attention,
    nn.TransformerEncoderLayer: _encoder_layer,
    nn.TransformerDecoderLayer: _encoder_layer,
}
# Their submodules are made by their own constructors.
_STACKS = (nn.TransformerEncoder, nn.TransformerDecoder)
_WHOLE = (nn.MultiheadAttention, nn.TransformerEncoderLayer, nn.TransformerDecoderLayer, *_STACKS)


def constructor_text(layer: nn.Module) -> str:
    """The call that makes a layer of torch.nn like this one. Raises Unsupported where that cannot be told."""
    kind = type(layer)
    if kind in _STACKS:
        return _stack_text(layer)
    told = _ARGUMENTS[kind](layer) if kind in _ARGUMENTS else {}
    words = [f"{name}={literal_text(value)}" for name, value in told.items()] if kind in _ARGUMENTS else []
    for name, parameter in inspect.signature(kind.__init__).parameters.items():
        hidden = name in ("self", "device", "dtype") or name.startswith("_") or name in told
        if hidden or parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        if name == "bias" and (layer.bias is None or isinstance(layer.bias, torch.Tensor)):
            value: Any = layer.bias is not None
        elif hasattr(layer, name):
            value = getattr(layer, name)
        else:
            raise Unsupported(f"nn.{kind.__name__}, whose argument '{name}' an instance does not tell")
        if parameter.default is not parameter.empty and type(value) is type(parameter.default) and value == parameter.default:
            continue
        text = literal_text(value)
        is_positional = parameter.default is parameter.empty and not any("=" in word for word in words)
        words.append(text if is_positional else f"{name}={text}")
    return f"nn.{kind.__name__}({', '.join(words)})"


def _stack_text(stack: Any) -> str:
    words = [constructor_text(stack.layers[0]), literal_text(stack.num_layers)]
    if stack.norm is not None:
        words.append(f"norm={constructor_text(stack.norm)}")
    if not getattr(stack, "enable_nested_tensor", True):
        words.append("enable_nested_tensor=False")
    return f"nn.{type(stack).__name__}({', '.join(words)})"


class Structure:
    """Statements that rebuild a module. `make` gives the expression for an instance of a class that is not torch.nn's,
    and `attributes` the names and expressions of what it holds beside modules and tensors."""

    def __init__(
        self, make: Callable[[nn.Module], str], attributes: Callable[[nn.Module], list[tuple[str, str]]], keep_library: bool
    ) -> None:
        self._make = make
        self._attributes = attributes
        self._keep_library = keep_library
        self._modules: dict[int, str] = {}
        self._tensors: dict[int, str] = {}
        self._alive: list[Any] = []  # a number of `id` means one object while that lives
        self.lines: list[str] = []

    def name_of(self, module: nn.Module) -> Optional[str]:
        """The variable of a module that was built already."""
        return self._modules.get(id(module))

    def build(self, module: nn.Module, path: str = "") -> str:
        """Adds what makes the module; returns its variable."""
        known = self._modules.get(id(module))
        if known is not None:
            return known
        # A trace has what hooks of forward and parametrizations do.
        for hooks in (*_FORWARD_HOOKS, *_BACKWARD_HOOKS) if self._keep_library else _BACKWARD_HOOKS:
            if getattr(module, hooks, None):
                raise Unsupported(f"{path or 'the module'} has hooks")
        if self._keep_library and getattr(module, "parametrizations", None) is not None:
            raise Unsupported(f"{path or 'the module'} is parametrized")
        kind = type(module)
        is_library_layer = self._keep_library and is_library(kind)
        name = f"m{len(self._modules)}"
        self._modules[id(module)] = name
        self._alive.append(module)
        if is_library_layer and kind not in _CONTAINERS:
            self._library_layer(module, name, path)
            return name
        self.lines.append(f"{name} = {f'nn.{kind.__name__}()' if is_library_layer else self._make(module)}")
        for child_name, child in module._modules.items():
            if child is None:
                self.lines.append(f"{name}.{child_name} = None")
                continue
            child_text = self.build(child, f"{path}.{child_name}" if path else child_name)
            if kind is nn.ModuleList and is_library_layer:
                self.lines.append(f"{name}.append({child_text})")
            elif child_name.isidentifier() and kind is not nn.ModuleDict:
                self.lines.append(f"{name}.{child_name} = {child_text}")
            else:
                self.lines.append(f"{name}.add_module({child_name!r}, {child_text})")
        for parameter_name, parameter in module._parameters.items():
            self._parameter(name, parameter_name, parameter)
        for buffer_name, buffer in module._buffers.items():
            self._buffer(module, name, buffer_name, buffer)
        if not is_library_layer:
            for attribute, text in self._attributes(module):
                self.lines.append(f"{name}.{attribute} = {text}")
        return name

    def _parameter(self, owner: str, name: str, parameter: Optional[torch.Tensor]) -> None:
        if parameter is None:
            self.lines.append(f"{owner}.register_parameter({name!r}, None)")
        elif id(parameter) in self._tensors:
            self.lines.append(f"{owner}.{name} = {self._tensors[id(parameter)]}")
        else:
            frozen = "" if parameter.requires_grad else ", requires_grad=False"
            self.lines.append(f"{owner}.{name} = nn.Parameter({tensor_text(parameter)}{frozen})")
            self._tensors[id(parameter)] = f"{owner}.{name}"
            self._alive.append(parameter)

    def _buffer(self, module: nn.Module, owner: str, name: str, buffer: Optional[torch.Tensor]) -> None:
        text = "None" if buffer is None else self._tensors.get(id(buffer)) or tensor_text(buffer)
        transient = ", persistent=False" if name in module._non_persistent_buffers_set else ""
        self.lines.append(f"{owner}.register_buffer({name!r}, {text}{transient})")
        if buffer is not None:
            self._tensors[id(buffer)] = f"{owner}.{name}"
            self._alive.append(buffer)

    def _library_layer(self, layer: nn.Module, name: str, path: str) -> None:
        if layer._modules and type(layer) not in _WHOLE:
            raise Unsupported(f"{path or 'the module'}: nn.{type(layer).__name__}, which makes submodules of its own")
        self.lines.append(f"{name} = {constructor_text(layer)}")
        kinds = {each.dtype for each in layer.parameters() if each.is_floating_point()}
        if len(kinds) > 1:
            raise Unsupported(f"{path} has parameters of several types")
        if kinds and kinds != {torch.float32}:
            self.lines.append(f"{name}.to({kinds.pop()})")
        for tensor_name, tensor in list(layer.named_parameters()) + list(layer.named_buffers()):
            place = f"{name}.{tensor_name}"
            if not tensor.is_contiguous():
                raise Unsupported(f"{path}.{tensor_name}, whose memory is not contiguous")
            if id(tensor) in self._tensors:
                self.lines.append(f"{place} = {self._tensors[id(tensor)]}")
                continue
            self._tensors[id(tensor)] = place
            self._alive.append(tensor)
            if isinstance(tensor, nn.Parameter) and not tensor.requires_grad:
                self.lines.append(f"{place}.requires_grad_(False)")


def built_modules(module: nn.Module) -> Iterator[nn.Module]:
    """The module and those below it, but for what a layer of torch.nn makes by itself."""
    yield module
    if not is_library(type(module)) or type(module) in _CONTAINERS:
        for child in module.children():
            yield from built_modules(child)


def check_rebuilt(module: nn.Module, text: str, *, layers: bool = True) -> None:
    """Runs the text with PyTorch itself, on tensors without memory, and compares what it builds with the module:
    parameters, buffers and, with `layers`, what torch.nn's layers tell of themselves. Raises Unsupported where they
    differ."""
    namespace: dict[str, Any] = {"torch": torch, "nn": nn, "F": nn.functional, "math": __import__("math")}
    try:
        with torch.device("meta"):
            exec(compile(text, "<from_torch>", "exec"), namespace)  # noqa: S102 (the module's own source)
            built = namespace["build"]()
    except Unsupported:
        raise
    except Exception as error:
        raise Unsupported(f"rebuilding it fails: {type(error).__name__}: {error}") from None
    _compare("parameter", _tensors(module.named_parameters(remove_duplicate=False)), _tensors(built.named_parameters(remove_duplicate=False)))
    _compare("buffer", _tensors(module.named_buffers(remove_duplicate=False)), _tensors(built.named_buffers(remove_duplicate=False)))
    if layers:
        _compare("module", _layers(module), _layers(built))


def _tensors(named: Any) -> dict[str, tuple[Any, ...]]:
    """Name -> shape, type, whether it is trained, and the first name of the same tensor."""
    first: dict[int, str] = {}
    return {
        name: (tuple(each.shape), each.dtype, each.requires_grad, first.setdefault(id(each), name)) for name, each in named
    }


def _layers(module: nn.Module) -> dict[str, str]:
    """Path -> how layers of torch.nn describe themselves; for all others that they are there."""
    named = module.named_modules(remove_duplicate=False)
    return {name: f"{type(each).__name__}({each.extra_repr()})" if is_library(type(each)) else "" for name, each in named}


def _compare(what: str, given: dict[str, Any], built: dict[str, Any]) -> None:
    for name in [*given, *built]:
        if given.get(name) != built.get(name):
            raise Unsupported(
                f"{what} '{name}' is {given.get(name, 'not there')}, rebuilt it is {built.get(name, 'not there')}"
            )
    if list(given) != list(built):
        raise Unsupported(f"the {what}s come in another order when they are rebuilt")
