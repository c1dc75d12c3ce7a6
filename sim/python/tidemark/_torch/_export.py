"""The graph that torch.export traces, as text: one statement a node."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Optional

import torch
from torch import nn

from tidemark._torch._structure import Structure, check_rebuilt
from tidemark._torch._values import Unsupported, literal_text

# Checks that torch.export puts into a graph; they make nothing.
_SILENT = frozenset(("aten::_assert_tensor_metadata", "aten::_assert_async", "aten::sym_constrain_range_for_size"))
_INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/", "matmul": "@"}
_LEFT_OUT = frozenset(("layout", "pin_memory", "cudnn_enabled", "cudnn_enable"))


class _Call:
    """One node's arguments by the names of the operator's schema, as text; those at their defaults are left out."""

    def __init__(self, node: torch.fx.Node, text: Callable[[Any], str]) -> None:
        schema = node.target._schema  # type: ignore[union-attr]
        self.name = schema.name.split("::")[1]
        self.node = node
        self.words: dict[str, str] = {}
        self.only_by_name: set[str] = set()
        given = dict(zip((each.name for each in schema.arguments), node.args))
        given.update(node.kwargs)
        for each in schema.arguments:
            if each.kwarg_only or each.name in node.kwargs:
                self.only_by_name.add(each.name)
            if each.name in given and each.name not in _LEFT_OUT:
                self.words[each.name] = text(given[each.name])

    def take(self, *names: str) -> list[str]:
        """The texts of these arguments, None for those at their defaults."""
        return [self.words.get(name, "None") for name in names]

    def plain(self, skip: int = 0) -> str:
        words = list(self.words.items())[skip:]
        return ", ".join(f"{name}={text}" if name in self.only_by_name else text for name, text in words)


def _batch_norm(call: _Call) -> str:
    x, weight, bias, mean, var, training, momentum, eps = call.take(
        "input", "weight", "bias", "running_mean", "running_var", "training", "momentum", "eps"
    )
    return f"F.batch_norm({x}, {mean}, {var}, {weight}, {bias}, {training}, {momentum}, {eps})"


def _embedding(call: _Call) -> str:
    words = call.take("indices", "weight")
    padding = call.words.get("padding_idx", "-1")
    if not padding.startswith("-"):
        words.append(f"padding_idx={padding}")
    return f"F.embedding({', '.join(words)})"


def _normalized(call: _Call) -> str:
    """layer_norm and group_norm, whose functions take no switch for cuDNN."""
    return f"F.{call.name}({call.plain()})"


def _slice(call: _Call) -> str:
    value = call.node.args[0].meta["val"]  # type: ignore[union-attr]
    dim = int(call.words.get("dim", "0")) % value.dim()
    start, end, step = (call.words.get(name, "") for name in ("start", "end", "step"))
    bounds = f"{'' if start in ('None', '0') else start}:{'' if end in ('None', str(2**63 - 1)) else end}"
    if step not in ("", "1"):
        bounds += f":{step}"
    return f"{call.words['self']}[{':, ' * dim}{bounds}]"


def _index(call: _Call) -> str:
    inside = call.words["indices"].removeprefix("[").removesuffix("]").replace("None", ":")
    return f"{call.words['self']}[{inside}]"


def _to(call: _Call) -> str:
    words = [call.words[name] for name in ("device", "dtype") if call.words.get(name, "None") != "None"]
    keep = ", copy=True" if call.words.get("copy") == "True" or call.name == "_to_copy" else ""
    return f"{call.words['self']}.to({', '.join(words) or 'torch.float32'}{keep})"


def _interpolate(call: _Call) -> str:
    mode = "bilinear" if "bilinear" in call.name else "nearest"
    words = [f"mode={mode!r}"]
    for name, ours in (("output_size", "size"), ("scale_factors", "scale_factor"), ("align_corners", "align_corners")):
        if call.words.get(name, "None") != "None" and not (name == "align_corners" and mode == "nearest"):
            words.append(f"{ours}={call.words[name]}")
    return f"F.interpolate({next(iter(call.words.values()))}, {', '.join(words)})"


def _renamed(name: str) -> Callable[[_Call], str]:
    return lambda call: f"{name}({call.plain()})"


def _view(call: _Call) -> str:
    """As reshape: tracing leaves out a contiguous() that had nothing to do where it was traced."""
    return f"{call.words['self']}.reshape({call.words['size']})"


_SPECIAL: dict[str, Callable[[_Call], str]] = {
    "_to_copy": _to,
    "_unsafe_view": _view,
    "batch_norm": _batch_norm,
    "dropout": _renamed("F.dropout"),
    "dropout_": lambda call: f"F.dropout({call.plain()}, inplace=True)",
    "elu": _renamed("F.elu"),
    "embedding": _embedding,
    "feature_dropout": _renamed("F.dropout2d"),
    "gelu": _renamed("F.gelu"),
    "group_norm": _normalized,
    "hardtanh": _renamed("F.hardtanh"),
    "hardtanh_": lambda call: f"F.hardtanh({call.plain()}, inplace=True)",
    "index": _index,
    "layer_norm": _normalized,
    "leaky_relu": _renamed("F.leaky_relu"),
    "lift_fresh_copy": lambda call: f"{call.words['self']}.clone()",
    "linear": _renamed("F.linear"),
    "scaled_dot_product_attention": _renamed("F.scaled_dot_product_attention"),
    "silu_": lambda call: f"F.silu({call.plain()}, inplace=True)",
    "slice": _slice,
    "softplus": _renamed("F.softplus"),
    "to": _to,
    "upsample_bilinear2d": _interpolate,
    "upsample_nearest2d": _interpolate,
    "view": _view,
}


def _call_text(call: _Call) -> str:
    """An operator as the call that code would write. Whether the model language has it is for its reader to say."""
    if call.name in _SPECIAL:
        return _SPECIAL[call.name](call)
    if call.name in _INFIX and len(call.words) == 2:
        left, right = call.words.values()
        return f"{left} {_INFIX[call.name]} {right}"
    if hasattr(nn.functional, call.name) and not hasattr(torch.Tensor, call.name):
        return f"F.{call.name}({call.plain()})"
    if hasattr(torch.Tensor, call.name) and next(iter(call.words), "") == "self":
        return f"{call.words['self']}.{call.name}({call.plain(skip=1)})"
    if hasattr(torch, call.name):
        return f"torch.{call.name}({call.plain()})"
    raise Unsupported(f"operator {call.node.target}, which code cannot call by a name of PyTorch's")


def _place_text(target: str) -> str:
    """"layers.0.weight" -> getattr(self.layers, "0").weight"""
    text = "self"
    for part in target.split("."):
        text = f"{text}.{part}" if part.isidentifier() else f"getattr({text}, {part!r})"
    return text


class _Graph:
    """Writes a forward method from an exported program."""

    def __init__(self, program: Any, module: nn.Module) -> None:
        self._nodes = list(program.graph.nodes)
        self._texts: dict[Any, str] = {}
        self._last_use: dict[Any, Any] = {}
        self.inputs: list[str] = []
        self.lines: list[str] = []
        held = {spec.arg.name: spec.target for spec in program.graph_signature.input_specs if spec.target is not None}
        known = {name for name, _ in [*module.named_parameters(remove_duplicate=False), *module.named_buffers(remove_duplicate=False)]}
        for node in self._nodes:
            if node.op == "placeholder":
                if node.name in held and held[node.name] not in known:
                    raise Unsupported(f"'{held[node.name]}', a constant of the graph that is no parameter or buffer")
                self._texts[node] = _place_text(held[node.name]) if node.name in held else f"{node.name}_in"
                if node.name not in held:
                    self.inputs.append(self._texts[node])
            for used in node.all_input_nodes:
                self._last_use[used] = node

    def write(self) -> None:
        for node in self._nodes:
            if node.op == "placeholder":
                continue
            if node.op == "output":
                self._output(node)
            elif node.op == "call_function":
                self._function(node)
            else:
                raise Unsupported(f"a node '{node.op}' of the graph")

    def _output(self, node: torch.fx.Node) -> None:
        results = node.args[0]
        names = [self._value(each) for each in results]  # type: ignore[union-attr]
        self.lines.append(f"return {names[0]}" if len(names) == 1 else f"return {', '.join(names)}")

    def _function(self, node: torch.fx.Node) -> None:
        if node.target is operator.getitem:
            text: Optional[str] = f"{self._value(node.args[0])}[{self._value(node.args[1])}]"
        elif isinstance(node.target, torch._ops.OpOverload):
            text = None if node.target._schema.name in _SILENT else _call_text(_Call(node, self._value))
        elif isinstance(node.target, torch._ops.HigherOrderOperator):
            raise Unsupported(f"a node of {node.target.name()}, which holds a graph of its own")
        else:
            raise Unsupported(f"a call of {node.target} in the graph")
        dead = [each for each in node.all_input_nodes if self._last_use[each] is node and each.op == "call_function"]
        if text is None:
            self._texts[node] = "None"
        elif node in self._last_use:
            self._texts[node] = node.name
            self.lines.append(f"{node.name} = {text}")
        else:
            self.lines.append(text)
        named = [self._texts[each] for each in dead if self._texts[each].isidentifier()]
        if named:
            self.lines.append(f"del {', '.join(named)}")

    def _value(self, value: Any) -> str:
        if isinstance(value, torch.fx.Node):
            return self._texts[value]
        if isinstance(value, (list, tuple)):
            inside = ", ".join(self._value(each) for each in value)
            return f"[{inside}]"
        if isinstance(value, torch.device):
            return '"cuda"'  # where the scenario's model is; the trace has the one where it was made
        return literal_text(value)


def traced_text(module: nn.Module, inputs: list[torch.Tensor]) -> str:
    """A text with a function `build` that makes a module of the traced graph, with the parameters and buffers of the
    one given in its places. Raises Unsupported with what stands in the way."""
    try:
        program = torch.export.export(module, tuple(inputs), strict=False)
    except Exception as error:  # torch.export raises whatever the module's code meets
        first = (str(error).strip().splitlines() or [""])[0]
        raise Unsupported(f"torch.export: {type(error).__name__}: {first}") from None
    graph = _Graph(program, module)
    graph.write()
    structure = Structure(lambda each: "Traced()" if each is module else "nn.Module()", lambda each: [], keep_library=False)
    root = structure.build(module)
    checks = [
        f"assert list({name}.shape) == {list(each.shape)}, 'traced for inputs of shape {list(each.shape)}'"
        for name, each in zip(graph.inputs, inputs)
    ]
    lines = [
        "class Traced(nn.Module):",
        f"    def forward({', '.join(['self', *graph.inputs])}):",
        *(f"        {line}" for line in [*checks, *graph.lines]),
        "",
        "def build():",
        *(f"    {line}" for line in [*structure.lines, f"return {root}"]),
    ]
    text = "\n".join(lines) + "\n"
    check_rebuilt(module, text, layers=False)
    return text
