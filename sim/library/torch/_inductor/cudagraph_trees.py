"""CUDA graphs of compiled code: trees of recordings that share a pool.
Source: docs/rules/compile.md#11, torch/_inductor/cudagraph_trees.py"""
import torch
import torch._C as _C
from torch.cuda import graphs

_FORWARD, _BACKWARD, _INFERENCE = range(3)  # GraphPass of sim/torch/compile/graphed_pass.h
_NOTHING, _WARMS_UP, _RECORDS, _REPLAYS = range(4)

_trees = {}  # by device
_marks = [0]  # how often the program said that a step begins


class _Node:
    """a pass that was run once, or recorded"""

    def __init__(self, parent, graph=None, fixed=(), others=()):
        self.parent, self.graph = parent, graph
        self.fixed, self.others = fixed, others  # inputs that stay; those of them that no graph gave
        self.outputs, self.children = [], {}

    def path(self):
        """from the root to here"""
        nodes, node = [], self
        while node is not None:
            nodes.append(node)
            node = node.parent
        return reversed(nodes)

    def live_outputs(self):
        return [number for node in self.path() for number in node.outputs if _C.is_output_live(number)]


class _Pooled:
    """what is asked for meanwhile lies in the tree's pool"""

    def __init__(self, tree):
        self._tree, self._stream = tree, torch.cuda.stream(tree.stream)

    def __enter__(self):
        torch.cuda.synchronize()
        self._tree.stream.wait_stream(torch.cuda.current_stream())
        self._stream.__enter__()
        self._use(graphs._CAPTURE, self._tree.stream._index)

    def __exit__(self, *error):
        self._use(graphs._END_CAPTURE)
        self._use(graphs._RELEASE)
        self._stream.__exit__(*error)
        torch.cuda.current_stream().wait_stream(self._tree.stream)
        return False

    def _use(self, action, stream=0):
        graphs._use_pool(action, self._tree.pool, self._tree.stream.device_index, stream)


class _Tree:
    def __init__(self):
        torch.cuda.synchronize()
        self.stream = torch.cuda.Stream()
        self.stream.wait_stream(torch.cuda.current_stream())
        self.keeper, self.pool = graphs.CUDAGraph(), graphs.graph_pool_handle()
        with graphs.graph(self.keeper, pool=self.pool, stream=self.stream):
            pass
        self.roots, self.warm = {}, set()
        self.node, self.state = None, _NOTHING
        self.generation, self.pending = -1, False

    def run(self, function, kind, fixed, inputs, run, generation):
        now = _marks[0] or generation
        self._run(function, set(fixed), inputs, run, now)
        if kind != _INFERENCE:
            self.pending = kind == _FORWARD

    def _run(self, function, fixed, inputs, run, now):
        if self.state in (_WARMS_UP, _RECORDS):
            self._end_path(now)
        if function not in self.warm or self.state == _WARMS_UP:
            if self.state == _REPLAYS:
                self._restore()
            return self._warm_up(function, inputs, run, now)
        if self.state != _RECORDS:
            node = self._recorded(function)
            if node is None and self.node is not None:
                self._end_path(now)
                node = self._recorded(function) if self.node is None else None
            if node is not None:
                return self._replay(node, inputs, run, now)
            if self.node is not None:
                self._restore()
        return self._record(function, fixed, inputs, run, now)

    def _recorded(self, function):
        return (self.roots if self.node is None else self.node.children).get(function)

    def _end_path(self, now):
        begins = now != self.generation and (_marks[0] != 0 or not self.pending)
        live = self.node.live_outputs()
        if not begins and live:
            return
        if begins and self.state != _REPLAYS:
            for number in live:
                _C.drop_output(number)
        self.node, self.state = None, _NOTHING

    def _come_to(self, node, state, now):
        self.node, self.state, self.generation = node, state, now

    def _owned(self, inputs):
        """which of them the path gave"""
        live = [] if self.node is None else self.node.live_outputs()
        return {i for i, tensor in enumerate(inputs) if any([_C.is_output(number, tensor) for number in live])}

    def _warm_up(self, function, inputs, run, now):
        self.warm.add(function)
        owned = self._owned(inputs)
        self._come_to(_Node(self.node), _WARMS_UP, now)
        _C._cuda_clearCublasWorkspaces()
        with _Pooled(self):
            outputs = run(inputs, [i for i in range(len(inputs)) if i not in owned], _WARMS_UP)
        _C._cuda_clearCublasWorkspaces()
        self.node.outputs = outputs

    def _record(self, function, fixed, inputs, run, now):
        torch.cuda.synchronize()
        owned = self._owned(inputs)
        fixed |= owned
        placed = self._placed(inputs, fixed)
        inputs.clear()
        node = _Node(self.node, graphs.CUDAGraph(), fixed, fixed - owned)
        _C._cuda_clearCublasWorkspaces()
        with graphs.graph(node.graph, pool=self.pool, stream=self.stream):
            node.outputs = run(placed, sorted(fixed - owned), _RECORDS)
        _C._cuda_clearCublasWorkspaces()
        node.graph.replay()
        children = self.roots if self.node is None else self.node.children
        children[function] = node
        self._come_to(node, _RECORDS, now)
        torch.cuda.synchronize()

    def _placed(self, inputs, fixed):
        """copies of what may lie elsewhere at the next call"""
        torch.cuda.synchronize()
        self.stream.wait_stream(torch.cuda.current_stream())
        placed, made, given = [], [], []
        with torch.no_grad(), _Pooled(self):
            for i, tensor in enumerate(inputs):
                if i in fixed:
                    placed.append(tensor)
                    continue
                made.append(
                    torch.empty_strided(tensor.size(), tensor.stride(), dtype=tensor.dtype, device=tensor.device)
                )
                placed.append(made[-1])
                given.append(tensor)
            if made:
                torch._foreach_copy_(made, given)
        return placed

    def _replay(self, node, inputs, run, now):
        self._come_to(node, _REPLAYS, now)
        for i in range(len(inputs)):
            if i not in node.fixed:
                inputs[i] = None
        node.graph.replay()
        node.outputs = run(inputs, sorted(node.others), _REPLAYS)

    def _restore(self):
        """what replayed graphs gave is the allocator's again, so that others are not put there"""
        with _Pooled(self):
            for number in self.node.live_outputs():
                _C.own_output(number)


def run(function, kind, fixed, inputs, run, generation):
    device = torch.cuda.current_device()
    if device not in _trees:
        _trees[device] = _Tree()
    _trees[device].run(function, kind, fixed, inputs, run, generation)


def mark_step_begin():
    _marks[0] -= 1


def reset():
    _trees.clear()
