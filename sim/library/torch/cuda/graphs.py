"""CUDA graphs: what a capture asks for lies in a pool of its own until the graph is gone.
Source: docs/rules/allocator.md#13, aten/src/ATen/cuda/CUDAGraph.cpp, torch/cuda/graphs.py"""
import gc
import weakref

import torch
import torch._C as _C
from torch.cuda.streams import _capturing

# PoolAction of sim/program/instruction.h
(
    _CREATE, _SERVE_ON_OOM, _SERVE_NO_OTHER, _NEVER_SPLIT, _CAPTURE, _JOIN_CAPTURE, _END_CAPTURE, _ROUTE, _END_ROUTE,
    _LEAVE_THREAD, _RETURN_THREAD, _RELEASE, _EMPTY_CACHE,
) = range(13)

_made = [0, 0]  # pools so far: by captures, by programs
_owners = {}  # of each pool of captures: how many
_seeds = [lambda: None]  # a weak reference to those of the graphs that are there


def _number():
    return torch.empty(1, dtype=torch.int64, device="cuda")


class _Seeds:
    """the two tensors that random numbers of all graphs begin with: they last as long as any graph"""

    def __init__(self):
        self.seed, self.offset = _number(), _number()


class _Owner:
    """of a pool: it lets go once"""

    def __init__(self, pool, device):
        self.pool, self.device = pool, device
        _owners[pool] = _owners.get(pool, 0) + 1

    def release(self):
        if self.pool is not None:
            _use_pool(_RELEASE, self.pool, self.device)
            _owners[self.pool] -= 1
        self.pool = None

    def __del__(self):
        self.release()


def _new_pool(by_program):
    _made[by_program] += 1
    return (0, _made[1]) if by_program else (_made[0], 0)


def _use_pool(action, pool, device, stream=0):
    _C.use_pool(action, pool[0], pool[1], device, stream)


def graph_pool_handle():
    return _new_pool(True)


def is_current_stream_capturing():
    return bool(_capturing) and torch.cuda.current_stream()._index in _capturing[0][1]


def _refuse_while_capturing():
    if _capturing:
        raise RuntimeError("CUDA error: operation not permitted when stream is capturing")


class CUDAGraph:
    def __init__(self, keep_graph=False):
        self._seeds = self._owner = self._pool = self._launches = None
        self._keeps = keep_graph

    def capture_begin(self, pool=None, capture_error_mode="global"):
        if self._launches is not None:
            raise RuntimeError(
                "This CUDAGraph instance already owns a captured graph. To capture a new graph, create a new instance."
            )
        if capture_error_mode not in ("global", "thread_local", "relaxed"):
            raise RuntimeError(
                "Unknown capture error mode. Expected `global`, `thread_local`, or `relaxed`, got " + capture_error_mode
            )
        _refuse_while_capturing()
        self._make_seeds()
        stream = torch.cuda.current_stream()
        if stream._index == 0:
            raise RuntimeError(
                "CUDA graphs must be captured on a non-default stream. "
                "(However, after capture, it's ok to replay them on the default stream.)"
            )
        self._pool = _new_pool(False) if pool is None or pool == (0, 0) else tuple(pool)
        if _owners.get(self._pool) == 0:
            raise RuntimeError("the memory pool is gone: no graph that captured into it is left")
        self._device = stream.device_index
        _use_pool(_CAPTURE, self._pool, self._device, stream._index)
        _capturing.append((self, [stream._index]))
        _C.begin_graph()

    def _make_seeds(self):
        if not _C.release_rule("graphs_have_seeds"):
            return
        if not _C.release_rule("graphs_share_seeds"):
            with torch.cuda.stream(torch.cuda.default_stream()):
                self._seeds = tuple([_number() for _ in range(2)])
            return
        self._seeds = _seeds[0]()
        if self._seeds is None:
            self._seeds = _Seeds()
            _seeds[0] = weakref.ref(self._seeds)

    def capture_end(self):
        if not _capturing or _capturing[0][0] is not self:
            raise RuntimeError("CUDA error: invalid argument")
        self._launches = _C.end_graph()
        _capturing.clear()
        _use_pool(_END_CAPTURE, self._pool, self._device)
        self._owner = _Owner(self._pool, self._device)

    def instantiate(self):
        if self._launches is None:
            raise RuntimeError("capture_end() must have been called before calling instantiate")

    def replay(self):
        if self._launches is None:
            raise RuntimeError("Called CUDAGraph::replay without a preceding successful capture.")
        _C.replay_graph(self._launches, self._device)

    def reset(self):
        if self._owner is not None:
            self._owner.release()
        self._owner = self._launches = None
        if not _C.release_rule("graphs_share_seeds"):
            self._seeds = None

    def pool(self):
        if self._pool is None:
            raise RuntimeError("Called CUDAGraph::pool() without a preceding successful capture.")
        return self._pool

    def enable_debug_mode(self):
        pass

    def debug_dump(self, debug_path):
        pass

    def raw_cuda_graph(self):
        _C.refuse("CUDAGraph.raw_cuda_graph() is not modelled")

    raw_cuda_graph_exec = raw_cuda_graph


class graph:
    default_capture_stream = None

    def __init__(self, cuda_graph, pool=None, stream=None, capture_error_mode="global"):
        if stream is None and type(self).default_capture_stream is None:
            type(self).default_capture_stream = torch.cuda.Stream()
        self.pool = () if pool is None else (pool,)
        self.capture_stream = type(self).default_capture_stream if stream is None else stream
        self.stream_ctx = torch.cuda.stream(self.capture_stream)
        self.cuda_graph = cuda_graph
        self.capture_error_mode = capture_error_mode

    def __enter__(self):
        torch.cuda.synchronize()
        if torch._C.release_rule("graph_collects"):
            gc.collect()
        torch.cuda.empty_cache()
        if torch._C.release_rule("graph_empties_host_cache"):
            torch._C._host_emptyCache()
        self.stream_ctx.__enter__()
        self.cuda_graph.capture_begin(*self.pool, capture_error_mode=self.capture_error_mode)

    def __exit__(self, *error):
        self.cuda_graph.capture_end()
        self.stream_ctx.__exit__(*error)


def _leaves(tree):
    return torch.utils._pytree.tree_leaves(tree)


def _check_callable(module, leaves):
    if isinstance(module, torch.nn.Module):
        if module._backward_hooks or module._forward_hooks or module._forward_pre_hooks:
            raise AssertionError(
                "Modules must not have hooks registered at the time they are passed. However, registering hooks "
                "on modules after passing them through make_graphed_callables is allowed."
            )
        if any(b.requires_grad for b in module.buffers()):
            raise AssertionError(
                "In any :class:`~torch.nn.Module` passed to :func:`~make_graphed_callables`, only parameters may be "
                "trainable. All buffers must have ``requires_grad=False``."
            )
    if not all(isinstance(leaf, torch.Tensor) for leaf in leaves):
        raise AssertionError(
            "In the beta API, sample_args for each callable must contain only Tensors. Other types are not allowed."
        )


def _gradients(outputs, surface, given, allow_unused):
    return torch.autograd.grad(
        outputs=outputs, inputs=tuple([i for i in surface if i.requires_grad]), grad_outputs=given, only_inputs=True,
        allow_unused=allow_unused,
    )


def make_graphed_callables(callables, sample_args, num_warmup_iters=3, allow_unused_input=False, pool=None):
    if torch.is_autocast_enabled() and torch.is_autocast_cache_enabled():
        raise RuntimeError(
            "make_graphed_callables does not support the autocast caching. Please set `cache_enabled=False`."
        )
    is_single = not isinstance(callables, tuple)
    if is_single:
        callables, sample_args = (callables,), (sample_args,)
    user_args = []
    for module, args in zip(callables, sample_args):
        user_args.append(tuple(_leaves(args)))
        _check_callable(module, user_args[-1])
    parameters = [tuple(c.parameters()) if isinstance(c, torch.nn.Module) else () for c in callables]
    surfaces = [args + own for args, own in zip(user_args, parameters)]
    forward_graphs = [CUDAGraph() for _ in callables]
    backward_graphs = [CUDAGraph() for _ in callables]
    mempool = graph_pool_handle() if pool is None else pool

    torch.cuda.synchronize()
    with torch.cuda.stream(torch.cuda.Stream()):
        for function, args, surface in zip(callables, sample_args, surfaces):
            # What the last warm-up made lives on until the function returns.
            gradients, outputs, outputs_with_gradient = None, None, None
            for _ in range(num_warmup_iters):
                outputs = _leaves(function(*args))
                outputs_with_gradient = tuple([o for o in outputs if o.requires_grad])
                if outputs_with_gradient:
                    gradients = _gradients(
                        outputs_with_gradient, surface,
                        tuple([torch.empty_like(o) for o in outputs if o.requires_grad]), allow_unused_input,
                    )
    torch.cuda.synchronize()

    all_outputs, specs = [], []
    for function, args, forward_graph in zip(callables, sample_args, forward_graphs):
        with graph(forward_graph, pool=mempool):
            made = function(*args)
        flat, spec = torch.utils._pytree.tree_flatten(made)
        all_outputs.append(tuple(flat))
        specs.append(spec)

    all_given, all_gradients = [], []
    for surface, static_outputs, backward_graph in zip(
        reversed(surfaces), reversed(all_outputs), reversed(backward_graphs)
    ):
        given = tuple([torch.empty_like(o) if o.requires_grad else None for o in static_outputs])
        outputs_with_gradient = tuple([o for o in static_outputs if o.requires_grad])
        gradients = None
        if outputs_with_gradient:
            with graph(backward_graph, pool=mempool):
                gradients = _gradients(
                    outputs_with_gradient, surface, tuple([g for g in given if g is not None]), allow_unused_input
                )
        found = iter(gradients or ())
        padded = tuple([next(found) if i.requires_grad and gradients is not None else None for i in surface])
        all_given.append(given)
        all_gradients.append(padded)
    all_given.reverse()
    all_gradients.reverse()

    graphed = []
    for i, function in enumerate(callables):
        calls = _graphed(
            forward_graphs[i], backward_graphs[i], parameters[i], len(user_args[i]), specs[i], surfaces[i],
            all_outputs[i], all_given[i], all_gradients[i],
        )
        if isinstance(function, torch.nn.Module):
            function.forward = _forward_of(function, function.training, calls, function.forward)
            graphed.append(function)
        else:
            graphed.append(calls)
    return graphed[0] if is_single else tuple(graphed)


def _forward_of(module, was_training, calls, original):
    def forward(*args, **kwargs):
        return calls(*args, **kwargs) if module.training == was_training else original(*args, **kwargs)

    return forward


def _graphed(forward_graph, backward_graph, parameters, user_args, spec, surface, static_outputs, given, gradients):
    """the function that replays both graphs as one node of autograd"""

    class Graphed(torch.autograd.Function):
        @staticmethod
        def forward(ctx, *inputs):
            for i in range(user_args):
                if surface[i].data_ptr() != inputs[i].data_ptr():
                    surface[i].copy_(inputs[i])
            forward_graph.replay()
            return tuple([o.detach() for o in static_outputs])

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(ctx, *grads):
            for place, grad in zip(given, grads):
                if place is not None and place.data_ptr() != grad.data_ptr():
                    place.copy_(grad)
            backward_graph.replay()
            return tuple([None if g is None else g.detach() for g in gradients])

    def calls(*args):
        out = Graphed.apply(*(tuple(_leaves(args)) + parameters))
        return torch.utils._pytree.tree_unflatten(out, spec)

    return calls
