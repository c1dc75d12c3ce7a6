import torch
import torch._C as _C
from torch.distributed._buckets import _bucket_assignment


class _Bucket:
    def __init__(self, number, indices, parameters, dtype=None):
        self.indices = indices
        # In the order in which they go: what hooks gave, what gradients are written to, what is sent.
        self.future, self.results, self.views, self.first_views, self.gradients = None, [], [], [], None
        variables = [parameters[i] for i in indices]
        with torch.no_grad():
            self.gradients = torch.empty(
                sum([p.numel() for p in variables]), dtype=dtype or variables[0].dtype, device=variables[0].device
            )
            _C.set_role(self.gradients, "gradient")
            _C.name_memory(self.gradients, None, f"DDP: bucket {number} of gradients, {len(indices)} parameters")
            offset = 0
            for p in variables:
                self.views.append(_C.part_like(self.gradients, offset, p))
                offset += p.numel()
        self.pending = len(indices)


class GradBucket:
    """a bucket as communication hooks see it"""

    def __init__(self, bucket, index, is_last, parameters):
        self._bucket, self._index, self._is_last = bucket, index, is_last
        self._parameters = [parameters[i] for i in bucket.indices]
        self._buffer = bucket.gradients

    def index(self):
        return self._index

    def buffer(self):
        return self._buffer

    def gradients(self):
        """views of the buffer, which a hook may have replaced"""
        views, offset = [], 0
        for p in self._parameters:
            views.append(self._buffer[offset : offset + p.numel()].view(p.shape))
            offset += p.numel()
        return views

    def parameters(self):
        return self._parameters

    def is_last(self):
        return self._is_last

    def set_buffer(self, buffer):
        self._buffer = buffer


class _Reducer:
    """Source: c10d::Reducer: buckets of gradients, filled as autograd makes them, reduced when full"""

    def __init__(
        self, parameters, bucket_indices, rebuilt_limits, expect_sparse, find_unused, as_view, skips_unused=False
    ):
        self.used_map = None  # goes first
        # By index: as C++'s vector, the first goes first.
        self.parameters, self.expect_sparse = dict(enumerate(parameters)), expect_sparse
        self.rebuilt_limits, self.skips_unused = rebuilt_limits, skips_unused
        self.find_unused, self.as_view, self.static_graph = find_unused, as_view, False
        self.has_rebuilt, self.expects_hooks, self.require_finalize = False, False, False
        self.rebuilt_order, self.iterations = [], 0
        self.triggered = [0] * len(parameters)
        self.local_used = [False] * len(parameters)
        self.unused, self.has_marked_unused = [], False
        self.mixed_dtype = None
        self.initialize_buckets(bucket_indices)
        self.accumulators = {i: _C.Accumulator(p, self, i) for i, p in enumerate(parameters)}
        self.comm_hook = self.process_group = self.forward_work = None
        if find_unused:
            self.make_used_map()

    def make_used_map(self):
        self.used_map = torch.empty(len(self.parameters), dtype=torch.int32, device=self.parameters[0].device)

    def initialize_buckets(self, bucket_indices):
        self.buckets, self.locators = {}, {}  # a dict lets go of its first value first, as C++'s vector does
        for indices in bucket_indices:
            if len(indices) == 1 and self.expect_sparse[indices[0]]:
                _C.refuse(
                    "DistributedDataParallel with sparse gradients is not modelled",
                    "use an embedding with sparse=False",
                )
            for position, index in enumerate(indices):
                self.locators[index] = (len(self.buckets), position)
            bucket = self.buckets[len(self.buckets)] = _Bucket(
                len(self.buckets), indices, self.parameters, self.mixed_dtype
            )
            if self.as_view:  # a gradient that there is goes with its bucket
                for index, view in zip(indices, bucket.views):
                    if self.parameters[index].grad is not None:
                        self.parameters[index].grad = view
            del bucket

    def set_mixed_precision(self, dtype):
        """what is sent has that type. Gradients still go where they went, until buckets are made anew"""
        self.mixed_dtype = dtype
        for bucket in self.buckets.values():
            bucket.first_views = bucket.views
            bucket.gradients = bucket.gradients.to(dtype)

    def accumulator(self, parameter):
        """what tells of the gradient of what a parameter is now"""
        for index, known in self.parameters.items():
            if known is parameter:
                return _C.Accumulator(parameter, self, index)

    def set_static_graph(self):
        self.static_graph = True
        if not self.find_unused:
            self.make_used_map()

    # ---- buckets in the order in which gradients came

    def should_rebuild(self):
        return (self.static_graph or not self.find_unused) and not self.has_rebuilt

    def rebuild_buckets(self):
        self.ensure_prior_reduction_finished()
        if not self.should_rebuild() or not self.rebuilt_order:
            return False
        indices = _bucket_assignment(
            [self.parameters[i] for i in self.rebuilt_order],
            self.rebuilt_limits,
            self.expect_sparse,
            self.rebuilt_order,
        )
        self.has_rebuilt = True
        self.sync_bucket_indices(indices)
        self.rebuilt_order = []
        self.initialize_buckets(indices)
        return True

    def sync_bucket_indices(self, indices):
        """rank 0 tells the others its buckets: all indices and their number, then the buckets' sizes"""
        device = self.parameters[0].device
        all_indices = torch.empty(sum([len(bucket) for bucket in indices]) + 1, dtype=torch.int32, device=device)
        if self.process_group is not None:
            self.process_group._let_go()
            self.process_group._passed_to_others([all_indices], kind="broadcast")
        sizes = torch.empty(len(indices), dtype=torch.int32, device=device)
        if self.process_group is not None:
            self.process_group._passed_to_others([sizes], kind="broadcast")
        del sizes
        del all_indices

    # ---- one iteration

    def ensure_prior_reduction_finished(self):
        if self.require_finalize:
            raise RuntimeError(
                "Expected to have finished reduction in the prior iteration before starting a "
                "new one. This error indicates that your "
                "module has parameters that were not used in producing loss. You can enable "
                "unused parameter detection by passing the "
                "keyword argument `find_unused_parameters=True` to `torch.nn.parallel.DistributedDataParallel`"
            )

    def prepare_for_forward(self):
        self.iterations += 1

    def prepare_for_backward(self, outputs):
        self.expects_hooks = True
        self.next_bucket, self.has_marked_unused = 0, False
        for bucket in self.buckets.values():
            bucket.pending = len(bucket.indices)
        self.unused = []
        if self.static_graph:
            self.triggered_now = list(self.triggered)
        elif self.find_unused and outputs:
            self.unused = _C.unreached(list(self.accumulators.values()), outputs)

    def is_first_static(self):
        return self.static_graph and self.iterations == 1

    def autograd_hook(self, index):
        if not self.expects_hooks:
            return
        if (self.find_unused and not self.static_graph) or self.is_first_static():
            if self.parameters[index].grad is not None:
                self.local_used[index] = True
        if self.is_first_static():
            self.triggered[index] += 1
            return
        if not self.has_marked_unused:
            self.has_marked_unused = True
            for unused in self.unused:
                self.mark_variable_ready(unused)
        if self.static_graph:
            self.triggered_now[index] -= 1
            if self.triggered_now[index] != 0:
                return
        if self.should_rebuild():
            self.rebuilt_order.append(index)
        self.mark_variable_ready(index)

    def delay_all_reduce(self):
        """a static graph's first iteration: everything at the end of backward"""
        self.unused = [i for i, count in enumerate(self.triggered) if count == 0]
        for index in range(len(self.parameters)):
            self.mark_variable_ready(index)

    def mark_variable_ready(self, index):
        self.require_finalize = True
        bucket_index, position = self.locators[index]
        bucket = self.buckets[bucket_index]
        parameter = self.parameters[index]
        if self.as_view and parameter.grad is not None and not _C.same_storage(parameter.grad, bucket.views[position]):
            parameter.grad = bucket.views[position]
        bucket.pending -= 1
        while self.next_bucket < len(self.buckets) and self.buckets[self.next_bucket].pending == 0:
            if self._is_skipped(self.buckets[self.next_bucket]):
                pass
            elif self.comm_hook is not None:
                self._communicate(self.next_bucket)
            else:
                self._sum_over_ranks(self.buckets[self.next_bucket])
            self.next_bucket += 1
            if self.next_bucket == len(self.buckets):
                if self.is_first_static():
                    self.finalize_backward()
                else:
                    _C.queue_callback(self.finalize_backward)

    def _is_skipped(self, bucket):
        """none of its parameters was used, and the program says so of all ranks"""
        return self.skips_unused and bool(self.unused) and all([i in self.unused for i in bucket.indices])

    def _sum_over_ranks(self, bucket):
        """what is done without a hook. Its result lies where it was, and its Work is done when somebody looks."""
        if self.process_group is not None:
            self.process_group._passed_to_others([bucket.gradients], is_waited_for=False)

    def _communicate(self, index):
        bucket = self.buckets[index]
        with torch.no_grad():
            bucket.future = self.comm_hook(
                GradBucket(bucket, index, index == len(self.buckets) - 1, self.parameters)
            )

    def _take_results(self, bucket):
        """what a hook's future gives lies where the bucket's gradients are read; those that are views of the bucket get
        a copy of it"""
        result = bucket.future.wait()
        bucket.future = None
        if not isinstance(result, torch.Tensor):
            result = result[0]
        if _C.same_storage(result, bucket.gradients):
            return
        bucket.results, offset = [], 0
        for index in bucket.indices:
            parameter = self.parameters[index]
            bucket.results.append(_C.part_like(result, offset, parameter))
            offset += parameter.numel()
        if not self.as_view:
            bucket.views = bucket.results

    def finalize_backward(self):
        self.expects_hooks, self.require_finalize = False, False
        if self.comm_hook is None and self.process_group is not None:
            self.process_group._awaited(self.buckets[0].gradients)
        if self.comm_hook is not None:
            for bucket in self.buckets.values():
                if bucket.future is not None:
                    self._take_results(bucket)
        detects = self.static_graph or self.find_unused
        for bucket in self.buckets.values():
            for position, index in enumerate(bucket.indices):
                parameter = self.parameters[index]
                if detects and not self.local_used[index]:
                    continue
                if parameter.grad is None:
                    view = bucket.views[position]
                    parameter.grad = view if self.as_view else view.clone()
        if self.find_unused and not self.static_graph:
            self.local_used = [False] * len(self.parameters)
