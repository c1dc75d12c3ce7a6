import torch
from torch import nn
from torch.distributed.tensor._api import DTensor, distribute_module, distribute_tensor
from torch.distributed.tensor.placement_types import Placement, Replicate, Shard

# Source: torch.distributed.tensor.parallel.style


class ParallelStyle:
    src_data_rank = 0


def _tuple(layouts):
    return (layouts,) if isinstance(layouts, Placement) else layouts


class _Linear(ParallelStyle):
    """what styles of one module have in common: inputs become DTensors, outputs are laid out"""

    def __init__(self, *, input_layouts=None, output_layouts=None, use_local_output=True):
        self.input_layouts = (input_layouts or self._input,)
        self.output_layouts = (output_layouts or self._output,)
        self.use_local_output = use_local_output

    def _wanted(self, module):
        return (Replicate(),)

    def _prepare_input(self, module, inputs, device_mesh):
        x = inputs[0]
        if not isinstance(x, DTensor):
            x = DTensor.from_local(x, device_mesh, self.input_layouts, run_check=False)
        wanted = self._wanted(module)
        if self.input_layouts != wanted:
            x = x.redistribute(placements=wanted, async_op=True)
        return x

    def _prepare_output(self, module, outputs, device_mesh):
        if tuple(outputs.placements) != self.output_layouts:
            outputs = outputs.redistribute(placements=self.output_layouts, async_op=True)
        return outputs.to_local() if self.use_local_output else outputs

    def _apply(self, module, device_mesh):
        if not isinstance(module, (nn.Linear, nn.Embedding)):
            raise NotImplementedError(f"{type(self).__name__} currently only support nn.Linear and nn.Embedding!")
        return distribute_module(module, device_mesh, self._partition, self._prepare_input, self._prepare_output)


class ColwiseParallel(_Linear):
    """a linear layer by its outputs, an embedding by its columns"""

    _input, _output = Replicate(), Shard(-1)

    def _partition(self, name, module, device_mesh):
        placement = Shard(0) if isinstance(module, nn.Linear) else Shard(1)
        held = list(module.named_parameters())
        for key, param in held:
            module.register_parameter(key, nn.Parameter(distribute_tensor(param, device_mesh, [placement])))
        while held:  # what the walk over the parameters has met goes with it, in order
            held.pop(0)


class RowwiseParallel(_Linear):
    """a linear layer by its inputs, an embedding by its rows"""

    _input, _output = Shard(-1), Replicate()

    def _wanted(self, module):
        return (Replicate(),) if isinstance(module, nn.Embedding) else (Shard(-1),)

    def _partition(self, name, module, device_mesh):
        if isinstance(module, nn.Embedding):
            held = list(module.named_parameters())
            for key, param in held:
                module.register_parameter(key, nn.Parameter(distribute_tensor(param, device_mesh, [Shard(0)])))
            while held:
                held.pop(0)
            return
        module.register_parameter(
            "weight", nn.Parameter(distribute_tensor(module.weight, device_mesh, [Shard(1)]))
        )
        if getattr(module, "bias", None) is not None:
            module.register_parameter(
                "bias", nn.Parameter(distribute_tensor(module.bias, device_mesh, [Replicate()]))
            )


class SequenceParallel(ParallelStyle):
    """norms and dropout on parts of the sequence; their parameters everywhere"""

    def __init__(self, *, sequence_dim=1, use_local_output=False):
        self.sequence_sharding, self.use_local_output = (Shard(sequence_dim),), use_local_output

    def _partition(self, name, module, device_mesh):
        for key, param in list(module.named_parameters()):
            replicated = nn.Parameter(DTensor.from_local(param, device_mesh, [Replicate()], run_check=False))
            module.register_parameter(key, replicated)

    def _prepare_input(self, module, inputs, device_mesh):
        x = inputs[0]
        if not isinstance(x, DTensor):
            return DTensor.from_local(x, device_mesh, self.sequence_sharding, run_check=False)
        if tuple(x.placements) != self.sequence_sharding:
            x = x.redistribute(placements=self.sequence_sharding, async_op=True)
        return x

    def _prepare_output(self, module, outputs, device_mesh):
        return outputs.to_local() if self.use_local_output else outputs

    def _apply(self, module, device_mesh):
        return distribute_module(module, device_mesh, self._partition, self._prepare_input, self._prepare_output)


def _prepared(value, layout, wanted, device_mesh, use_local):
    """one input or output of a module: laid out as it is wanted"""
    if layout is None:
        return value
    if not isinstance(value, DTensor):
        value = DTensor.from_local(value, device_mesh, (layout,), run_check=False)
    if wanted is not None and layout != wanted:
        value = value.redistribute(placements=(wanted,))
    return value.to_local() if use_local else value


class PrepareModuleInput(ParallelStyle):
    def __init__(
        self, *, input_layouts=None, desired_input_layouts=None, input_kwarg_layouts=None,
        desired_input_kwarg_layouts=None, use_local_output=False
    ):
        self.input_layouts, self.desired_input_layouts = _tuple(input_layouts), _tuple(desired_input_layouts)
        self.kwarg_layouts, self.desired_kwarg_layouts = input_kwarg_layouts or {}, desired_input_kwarg_layouts or {}
        self.use_local_output = use_local_output
        if self.input_layouts is not None and len(self.input_layouts) != len(self.desired_input_layouts):
            raise AssertionError("input_layouts and desired_input_layouts should have same length!")

    def _apply(self, module, device_mesh):
        def prepare(module, args, kwargs):
            if self.input_layouts is not None:
                args = args if isinstance(args, tuple) else (args,)
                if len(args) != len(self.input_layouts):
                    raise ValueError("module inputs and input_layouts should have same length!")
                args = tuple([
                    _prepared(x, layout, wanted, device_mesh, self.use_local_output)
                    for x, layout, wanted in zip(args, self.input_layouts, self.desired_input_layouts)
                ])
            kwargs = {
                k: _prepared(
                    v, self.kwarg_layouts.get(k), self.desired_kwarg_layouts.get(k), device_mesh, self.use_local_output
                )
                for k, v in kwargs.items()
            }
            return args, kwargs

        module.register_forward_pre_hook(prepare, with_kwargs=True)
        return module


class PrepareModuleOutput(ParallelStyle):
    def __init__(self, *, output_layouts, desired_output_layouts, use_local_output=True):
        self.output_layouts, self.desired_output_layouts = _tuple(output_layouts), _tuple(desired_output_layouts)
        self.use_local_output = use_local_output

    def _apply(self, module, device_mesh):
        def prepare(module, inputs, outputs):
            is_tuple = isinstance(outputs, tuple)
            out = [
                _prepared(x, layout, wanted, device_mesh, self.use_local_output)
                for x, layout, wanted in zip(
                    outputs if is_tuple else (outputs,), self.output_layouts, self.desired_output_layouts
                )
            ]
            return tuple(out) if is_tuple else out[0]

        module.register_forward_hook(prepare)
        return module


class PrepareModuleInputOutput(ParallelStyle):
    def __init__(
        self, *, input_layouts=None, desired_input_layouts=None, input_kwarg_layouts=None,
        desired_input_kwarg_layouts=None, use_local_input=False, output_layouts=None, desired_output_layouts=None,
        use_local_output=True
    ):
        self._of_input = PrepareModuleInput(
            input_layouts=input_layouts, desired_input_layouts=desired_input_layouts,
            input_kwarg_layouts=input_kwarg_layouts, desired_input_kwarg_layouts=desired_input_kwarg_layouts,
            use_local_output=use_local_input
        )
        self._of_output = PrepareModuleOutput(
            output_layouts=output_layouts, desired_output_layouts=desired_output_layouts,
            use_local_output=use_local_output
        )

    def _apply(self, module, device_mesh):
        return self._of_output._apply(self._of_input._apply(module, device_mesh), device_mesh)
