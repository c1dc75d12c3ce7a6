from enum import Enum

import torch
import torch._C as _C
from torch.autograd.function import Function


class _Settings:
    """autocast as it is now, to be set again for the recomputation"""

    def __init__(self):
        self.enabled, self.dtype, self.cache_enabled = _C.autocast_state()

    def restored(self):
        return torch.autocast("cuda", dtype=self.dtype, enabled=self.enabled, cache_enabled=self.cache_enabled)


class _Reentrant(Function):
    @staticmethod
    def forward(ctx, run_function, preserve_rng_state, *args):
        ctx.run_function = run_function
        ctx.settings = _Settings()
        ctx.inputs, ctx.tensor_indices = [], []
        tensor_inputs = []
        for i, arg in enumerate(args):
            if isinstance(arg, torch.Tensor):
                tensor_inputs.append(arg)
                ctx.tensor_indices.append(i)
                ctx.inputs.append(None)
            else:
                ctx.inputs.append(arg)
        ctx.save_for_backward(*tensor_inputs)
        with torch.no_grad():
            outputs = run_function(*args)
        return outputs

    @staticmethod
    def backward(ctx, *args):
        if not torch.autograd._is_checkpoint_valid():
            raise RuntimeError(
                "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or passing an `inputs` "
                "parameter to .backward(). To resolve this error, you can either set use_reentrant=False, or call "
                ".backward() without passing the `inputs` argument."
            )
        inputs = list(ctx.inputs)
        tensors = ctx.saved_tensors
        for i, index in enumerate(ctx.tensor_indices):
            inputs[index] = tensors[i]
        detached_inputs = detach_variable(tuple(inputs))
        with torch.enable_grad(), ctx.settings.restored():
            outputs = ctx.run_function(*detached_inputs)
        if isinstance(outputs, torch.Tensor):
            outputs = (outputs,)
        outputs_with_grad, args_with_grad = [], []
        for i in range(len(outputs)):
            if isinstance(outputs[i], torch.Tensor) and outputs[i].requires_grad:
                outputs_with_grad.append(outputs[i])
                args_with_grad.append(args[i])
        if len(outputs_with_grad) == 0:
            raise RuntimeError("none of output has requires_grad=True, this checkpoint() is not necessary")
        torch.autograd.backward(outputs_with_grad, args_with_grad)
        grads = tuple(inp.grad if isinstance(inp, torch.Tensor) else None for inp in detached_inputs)
        return (None, None) + grads


def detach_variable(inputs):
    out = []
    for inp in inputs:
        if not isinstance(inp, torch.Tensor):
            out.append(inp)
            continue
        x = inp.detach()
        x.requires_grad = inp.requires_grad
        out.append(x)
    return tuple(out)


class _SaveInputs(Function):
    """keeps a region's tensor arguments as saved tensors, so that an outer region packs them"""

    @staticmethod
    def forward(ctx, dummy, *tensors):
        ctx.save_for_backward(*tensors)
        return torch.empty((0,))

    @staticmethod
    def backward(ctx, *grad_outputs):
        raise AssertionError("the inputs of a checkpointed region have no gradient of their own")


class CheckpointPolicy(Enum):
    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3


class SelectiveCheckpointContext:
    def __init__(self, *, is_recompute):
        self.is_recompute = is_recompute


class _Selective:
    """a region's run, the first or the second, of which operators' results are kept"""

    def __init__(self, policy, kept, is_again):
        self._policy, self._kept, self._is_again = policy, kept, is_again
        self._is_compiled = False

    def __enter__(self):
        self._is_compiled = not self._is_again and _C.set_policy(self._policy)
        if not self._is_compiled:
            self._kept.enter(self._is_again)

    def __exit__(self, *error):
        if not self._is_compiled:
            self._kept.exit()
        return False


def create_selective_checkpoint_contexts(policy_fn_or_list, allow_cache_entry_mutation=False):
    """contexts for a region's two runs: the second takes what the first kept instead of computing it"""
    if isinstance(policy_fn_or_list, list):
        chosen = list(policy_fn_or_list)

        def policy_fn(ctx, op, *args, **kwargs):
            return CheckpointPolicy.MUST_SAVE if op in chosen else CheckpointPolicy.PREFER_RECOMPUTE
    else:
        policy_fn = policy_fn_or_list

    aten, must_save, prefer_save = torch.ops.aten, CheckpointPolicy.MUST_SAVE, CheckpointPolicy.PREFER_SAVE

    ops = {}  # by name, once asked for

    def policy_of(name, tensors, is_again):
        op = ops.get(name)
        if op is None:
            op = ops[name] = getattr(aten, name).default
        policy = policy_fn(SelectiveCheckpointContext(is_recompute=is_again), op, *tensors)
        if isinstance(policy, bool):
            return must_save if policy else CheckpointPolicy.PREFER_RECOMPUTE
        return policy

    def decide(name, tensors, is_again):  # of every operator in the region
        policy = policy_of(name, tensors, is_again)
        return policy is must_save or policy is prefer_save

    kept = _C.KeptResults(decide)

    def policy(op, tensors):
        return policy_of(op, tensors, False).value

    return _Selective(policy, kept, False), _Selective(policy, kept, True)


class _Plain:
    def __enter__(self):
        pass

    def __exit__(self, *error):
        return False


def noop_context_fn():
    return _Plain(), _Plain()


def prepare_region(function, early_stop, context_fn, args, kwargs):
    """(what keeps a region, the context of its first run); of what is not recorded nothing is kept"""
    settings = _Settings()
    frame = _C.CheckpointFrame(early_stop)
    forward_context, again = context_fn()

    def recompute(named, *inputs):
        with settings.restored(), again:
            function(*inputs, **named)

    dummy = torch.empty((0,), requires_grad=True)
    saver = _SaveInputs.apply(dummy, *[a for a in args if isinstance(a, torch.Tensor)])
    if saver.grad_fn is None:
        return None, forward_context
    # The keyword arguments are an argument like the others, and no part of `recompute`: what was
    # saved of the arguments goes before them. Source: torch's _NoopSaveInputs.
    frame.prepare(saver, recompute, [kwargs, *[... if isinstance(a, torch.Tensor) else a for a in args]])
    return frame, forward_context


def _without_reentrant(function, early_stop, context_fn, args, kwargs):
    frame, forward_context = prepare_region(function, early_stop, context_fn, args, kwargs)
    if frame is None:  # whatever the policy says
        return function(*args, **kwargs)
    frame.enter()
    try:
        with forward_context:
            return function(*args, **kwargs)
    finally:
        frame.exit()


def checkpoint(function, *args, use_reentrant=None, context_fn=None, determinism_check="default", debug=False,
               early_stop=True, preserve_rng_state=True, **kwargs):
    if _C.begin_checkpointed():
        # Compiled code: the partitioner computes it again.
        forward_context, _ = (context_fn or noop_context_fn)()
        try:
            with forward_context:
                return function(*args, **kwargs)
        finally:
            _C.end_checkpointed()
    if use_reentrant is None:
        use_reentrant = True
    if use_reentrant:
        if context_fn is not None or debug:
            raise ValueError("Passing `context_fn` or `debug` is only supported when use_reentrant=False.")
        if kwargs:
            raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
        return _Reentrant.apply(function, preserve_rng_state, *args)
    return _without_reentrant(function, early_stop, context_fn or noop_context_fn, args, kwargs)


def checkpoint_sequential(functions, segments, input, use_reentrant=None, **kwargs):
    if isinstance(functions, torch.nn.Sequential):
        functions = list(functions.children())

    def run_function(start, end):
        def forward(input):
            for j in range(start, end + 1):
                input = functions[j](input)
            return input

        return forward

    segment_size = len(functions) // segments
    end = -1
    for start in range(0, segment_size * (segments - 1), segment_size):
        end = start + segment_size - 1
        input = checkpoint(run_function(start, end), input, use_reentrant=use_reentrant, **kwargs)
    return run_function(end + 1, len(functions) - 1)(input)
