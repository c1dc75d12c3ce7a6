"""A live `torch.nn.Module` as a scenario. The only part of the package that imports PyTorch."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Optional

import torch

from tidemark import _core
from tidemark._errors import InputError, argument_error
from tidemark._scenario import Scenario, source_of
from tidemark._torch._export import traced_text
from tidemark._torch._source import source_text
from tidemark._torch._values import Unsupported, dtype_text

if TYPE_CHECKING:
    from torch import nn

__all__ = ["scenario_of_module"]


def scenario_of_module(
    module: nn.Module,
    example_inputs: Sequence[torch.Tensor],
    device: str,
    train: Optional[Mapping[str, Any]],
    route: Literal["auto", "source", "export"],
) -> Scenario:
    """What from_torch() of the package does."""
    inputs = list(example_inputs)
    if not inputs or not all(isinstance(each, torch.Tensor) and each.dim() > 0 for each in inputs):
        raise argument_error("example_inputs", "expected a sequence of tensors with at least one dimension")
    if route not in ("auto", "source", "export"):
        raise argument_error("route", f"expected 'auto', 'source' or 'export', found {route!r}")
    reasons = []
    if route != "export":
        try:
            scenario = _scenario(source_text(module), module, inputs, device, train)
            _run(scenario)
            scenario.notes.append("the module's own source, its instance rebuilt from what it holds")
            return scenario
        except (Unsupported, InputError) as error:
            reasons.append(f"source: {error}")
        if route == "source":
            raise InputError("error: from_torch: the source cannot be taken\n" + reasons[0])
    try:
        scenario = _scenario(traced_text(module, inputs), module, inputs, device, train)
        _run(scenario)
    except (Unsupported, InputError) as error:
        reasons.append(f"export: {error}")
        raise InputError("error: from_torch: no route gives a scenario that runs\n" + "\n".join(reasons)) from None
    scenario.notes.append("the graph that torch.export traced: its shapes are fixed to those of the example inputs")
    scenario.notes.extend(reasons)
    return scenario


def _run(scenario: Scenario) -> None:
    """Raises InputError where something in it is not to be run. Running out of memory is as good as any end."""
    _core.run(source_of(scenario), False, False)


def _input_text(example: torch.Tensor, batch: int) -> str:
    sizes = [str(size) for size in example.shape]
    if example.shape[0] == batch:
        sizes[0] = "batch"
    dtype = "" if example.dtype == torch.float32 else f", dtype={dtype_text(example.dtype)}"
    return f"torch.zeros({', '.join(sizes)}{dtype})"


def _scenario(
    code: str, module: nn.Module, inputs: list[torch.Tensor], device: str, train: Optional[Mapping[str, Any]]
) -> Scenario:
    batch = int(inputs[0].shape[0])
    loop: dict[str, Any] = {"batch": batch, "inputs": [_input_text(each, batch) for each in inputs]}
    loop.update({"steps": 1, "no_grad": True} if train is None else train)
    loop.setdefault("mode", "train" if module.training else "eval")
    name = type(module).__name__
    lines = [
        "schema_version: 1",
        f"name: {json.dumps(name)}",
        f"device: {json.dumps(device)}",
        f"pytorch: {json.dumps('.'.join(torch.__version__.split('.')[:2]))}",
        "model:",
        "  function: build",
        "  code: |",
        *(f"    {line}".rstrip() for line in code.strip("\n").splitlines()),
        "train:",
        *(f"  {key}: {json.dumps(value)}" for key, value in loop.items()),
    ]
    return Scenario.from_text("\n".join(lines) + "\n", name=f"<{name}>")
