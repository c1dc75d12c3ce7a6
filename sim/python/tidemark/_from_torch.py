"""A live module as a scenario, with nothing of PyTorch loaded before it is asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Optional

from tidemark._scenario import Scenario

if TYPE_CHECKING:
    import torch
    from torch import nn


def from_torch(
    module: nn.Module,
    example_inputs: Sequence[torch.Tensor],
    *,
    device: str = "h100-sxm-80gb",
    train: Optional[Mapping[str, Any]] = None,
    route: Literal["auto", "source", "export"] = "auto",
) -> Scenario:
    """Makes a scenario of a module as it is now: its structure, parameters, buffers and attributes.

    The first route takes the source of the module's own classes, without their constructors, and rebuilds the instance
    from what it holds. Where something in it is outside the model language (docs/language.md), the second writes the
    graph that `torch.export` traces, one statement a node; docs/python.md says what is exact of it and what is not.
    Which one it was, and why, is in the scenario's `notes`.

    Args:
        module: the model; nothing in it is changed. Its values play no part.
        example_inputs: the positional arguments of its forward, tensors all. Their shapes and types become the
            scenario's inputs; what the first has as its first dimension is the scenario's `batch`.
        device: the GPU's id.
        train: keys of `train:` (docs/scenario.md) for the loop: {"loss": "cross_entropy", "target": [], "optimizer":
            "AdamW(lr=1e-3)", "steps": 4}. Without it: one forward pass under torch.no_grad().
        route: "source" or "export" to have that one or an error.

    Raises:
        InputError: neither route gives a scenario that runs; with the reasons.
    """
    from tidemark._torch import scenario_of_module

    return scenario_of_module(module, example_inputs, device, train, route)
