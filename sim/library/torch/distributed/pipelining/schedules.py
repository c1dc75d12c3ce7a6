import torch
import torch._C as _C
import torch.distributed as dist
from torch.distributed.fsdp import FSDPModule
from torch.distributed.pipelining._order import (
    BACKWARD_INPUT, BACKWARD_WEIGHT, FORWARD, FULL_BACKWARD, OVERLAP_F_B, RECV_B, RECV_F, REDUCE_GRAD, RESHARD,
    SEND_B, SEND_F, UNSHARD, B, F, I, W, _Action, _ComputationType, dual_pipe_v_order, interleaved_order, leaves,
    looped_order, with_communication, zbv_order, zero_bubble_order,
)
from torch.distributed.pipelining.microbatch import merge_chunks, split_args_kwargs_into_chunks

__all__ = [
    "get_schedule_class", "PipelineScheduleSingle", "PipelineScheduleMulti", "Schedule1F1B", "ScheduleGPipe",
    "ScheduleInterleaved1F1B", "ScheduleLoopedBFS", "ScheduleInterleavedZeroBubble", "ScheduleZBVZeroBubble",
    "ScheduleDualPipeV",
]


def _batch_p2p(ops):
    return dist.batch_isend_irecv(ops) if ops else []


def _sorted_batch_p2p(ops):
    """by the rank they go to or come from: the works of each. Its place in the group is the same for all pipelines"""
    by_peer = {}
    for op in ops:
        by_peer.setdefault(op.group_peer, []).append(op)
    return {peer: _batch_p2p(by_peer[peer]) for peer in sorted(by_peer)}


def _wait_batch_p2p(works):
    for work in works:
        work.wait()


class _PipelineSchedule:
    """what all schedules do before and after their micro-batches. Source: torch.distributed.pipelining.schedules"""

    def __init__(
        self, n_microbatches, loss_fn=None, args_chunk_spec=None, kwargs_chunk_spec=None, output_merge_spec=None,
        scale_grads=True
    ):
        self._n_microbatches, self._loss_fn, self.scale_grads = n_microbatches, loss_fn, scale_grads
        self._args_chunk_spec, self._kwargs_chunk_spec = args_chunk_spec, kwargs_chunk_spec
        self._output_merge_spec = output_merge_spec
        self._has_backward = loss_fn is not None
        self._internal_losses = []
        self._is_ready_forward = self._is_ready_backward = False

    def _maybe_compute_loss(self, stage, output, target_mbs, mb_index):
        if stage.is_last and self._loss_fn is not None:
            loss = self._loss_fn(output, target_mbs[mb_index])
            self._internal_losses.append(loss)

    def _maybe_get_loss(self, stage, mb_index):
        if stage.is_last and self._loss_fn is not None and mb_index < len(self._internal_losses):
            return self._internal_losses[mb_index]
        return None

    def _update_losses(self, losses):
        if any([stage.is_last for stage in self._stages]) and losses is not None:
            losses.clear()
            losses.extend(self._internal_losses)
        self._internal_losses.clear()

    def _initialize(self, args, kwargs):
        if not self._is_ready_forward:
            all_ops = []
            for stage in self._stages:
                all_ops.extend(stage._get_init_p2p_neighbors_ops())
            _wait_batch_p2p(_batch_p2p(all_ops))
            told = args
            for stage in self._stages:
                told = stage._prepare_forward_infra(self._n_microbatches, args if stage.is_first else told, kwargs)
            self._is_ready_forward = True
        if self._has_backward and not self._is_ready_backward:
            for stage in self._stages:
                stage._prepare_backward_infra(self._n_microbatches)
            self._is_ready_backward = True

    def step(self, *args, target=None, losses=None, return_outputs=True, **kwargs):
        if self._has_backward and not torch.is_grad_enabled():
            raise RuntimeError(
                "step() requires gradients to be enabled for backward computation; "
                "it should not be used under torch.no_grad() context. Please call eval() instead."
            )
        for stage in self._stages:
            stage.has_backward = self._has_backward
        for stage in self._stages:
            stage.clear_runtime_states()
        count = self._n_microbatches
        if args or kwargs:
            args_split, kwargs_split = split_args_kwargs_into_chunks(
                args, kwargs, count, self._args_chunk_spec, self._kwargs_chunk_spec
            )
        else:
            args_split, kwargs_split = [()] * count, [{}] * count
        targets_split = None if target is None else list(torch.tensor_split(target, count))
        self._step_microbatches(args_split, kwargs_split, targets_split, losses, return_outputs)
        for stage in self._stages:
            if stage.is_last and return_outputs:
                return merge_chunks(stage.output_chunks, self._output_merge_spec)
        return None

    def eval(self, *args, target=None, losses=None, **kwargs):
        before = self._has_backward
        try:
            self._has_backward = False
            return self.step(*args, target=target, losses=losses, **kwargs)
        finally:
            self._has_backward = before

    def _scale(self):
        return self._n_microbatches if self.scale_grads else 1


class PipelineScheduleSingle(_PipelineSchedule):
    """one stage a rank"""

    def __init__(
        self, stage, n_microbatches, loss_fn=None, args_chunk_spec=None, kwargs_chunk_spec=None,
        output_merge_spec=None, scale_grads=True
    ):
        super().__init__(
            n_microbatches, loss_fn, args_chunk_spec, kwargs_chunk_spec, output_merge_spec, scale_grads
        )
        self._stage, self._stages, self._num_stages = stage, [stage], stage.num_stages


class ScheduleGPipe(PipelineScheduleSingle):
    """all forwards, then all backwards"""

    def _step_microbatches(self, arg_mbs, kwarg_mbs, target_mbs, losses, return_outputs):
        self._initialize(arg_mbs[0], kwarg_mbs[0])
        fwd_sends_to_wait = []
        for i in range(self._n_microbatches):
            ops = self._stage.get_fwd_recv_ops(i)
            works = _sorted_batch_p2p(ops)
            for work in works.values():
                _wait_batch_p2p(work)
            output = self._stage.forward_one_chunk(i, arg_mbs[i], kwarg_mbs[i], return_outputs)
            ops = self._stage.get_fwd_send_ops(i)
            works = _sorted_batch_p2p(ops)
            fwd_sends_to_wait.extend(works.values())
            self._maybe_compute_loss(self._stage, output, target_mbs, i)
        for work in fwd_sends_to_wait:
            _wait_batch_p2p(work)
        if not self._has_backward:
            self._update_losses(losses)
            return
        bwd_sends_to_wait = []
        for i in range(self._n_microbatches):
            ops = self._stage.get_bwd_recv_ops(i)
            works = _sorted_batch_p2p(ops)
            for work in works.values():
                _wait_batch_p2p(work)
            loss = self._maybe_get_loss(self._stage, i)
            self._stage.backward_one_chunk(i, loss, last_backward=i == self._n_microbatches - 1)
            ops = self._stage.get_bwd_send_ops(i)
            works = _sorted_batch_p2p(ops)
            bwd_sends_to_wait.extend(works.values())
        for work in bwd_sends_to_wait:
            _wait_batch_p2p(work)
        self._update_losses(losses)
        self._stage.perform_reduce_grad(self._scale())


class Schedule1F1B(PipelineScheduleSingle):
    """a forward and a backward in turn, once the pipeline is full"""

    def __init__(self, stage, n_microbatches, *args, **kwargs):
        super().__init__(stage, n_microbatches, *args, **kwargs)
        if n_microbatches < self._num_stages:
            raise ValueError(
                f"Number of microbatches ({n_microbatches}) must be greater than or equal to the number of stages "
                f"({self._num_stages})."
            )

    def _step_microbatches(self, arg_mbs, kwarg_mbs, target_mbs, losses, return_outputs):
        self._initialize(arg_mbs[0], kwarg_mbs[0])
        count, stage = self._n_microbatches, self._stage
        warmup_chunks = min([count, self._num_stages - stage.stage_index])
        fwd_mb_index = bwd_mb_index = 0
        send_work, fwd_sends = [], []
        for _ in range(warmup_chunks):
            fwd_recvs = stage.get_fwd_recv_ops(fwd_mb_index)
            _wait_batch_p2p(_batch_p2p(fwd_recvs))
            output = stage.forward_one_chunk(
                fwd_mb_index, arg_mbs[fwd_mb_index], kwarg_mbs[fwd_mb_index], return_outputs
            )
            _wait_batch_p2p(send_work)
            fwd_sends = stage.get_fwd_send_ops(fwd_mb_index)
            if fwd_mb_index != warmup_chunks - 1:
                send_work = _batch_p2p(fwd_sends)
            self._maybe_compute_loss(stage, output, target_mbs, fwd_mb_index)
            fwd_mb_index += 1
        while True:
            bwd_recvs = stage.get_bwd_recv_ops(bwd_mb_index)
            _wait_batch_p2p(_batch_p2p(fwd_sends + bwd_recvs))
            loss = self._maybe_get_loss(stage, bwd_mb_index)
            stage.backward_one_chunk(bwd_mb_index, loss, last_backward=bwd_mb_index == count - 1)
            bwd_sends = stage.get_bwd_send_ops(bwd_mb_index)
            bwd_mb_index += 1
            if fwd_mb_index == count:
                break
            fwd_recvs = stage.get_fwd_recv_ops(fwd_mb_index)
            _wait_batch_p2p(_batch_p2p(bwd_sends + fwd_recvs))
            output = stage.forward_one_chunk(
                fwd_mb_index, arg_mbs[fwd_mb_index], kwarg_mbs[fwd_mb_index], return_outputs
            )
            self._maybe_compute_loss(stage, output, target_mbs, fwd_mb_index)
            fwd_sends = stage.get_fwd_send_ops(fwd_mb_index)
            fwd_mb_index += 1
        send_work = _batch_p2p(bwd_sends)
        while bwd_mb_index < count:
            bwd_recvs = stage.get_bwd_recv_ops(bwd_mb_index)
            _wait_batch_p2p(_batch_p2p(bwd_recvs))
            loss = self._maybe_get_loss(stage, bwd_mb_index)
            stage.backward_one_chunk(bwd_mb_index, loss, last_backward=bwd_mb_index == count - 1)
            _wait_batch_p2p(send_work)
            bwd_sends = stage.get_bwd_send_ops(bwd_mb_index)
            send_work = _batch_p2p(bwd_sends)
            bwd_mb_index += 1
        _wait_batch_p2p(send_work)
        self._update_losses(losses)
        stage.perform_reduce_grad(self._scale())


class PipelineScheduleMulti(_PipelineSchedule):
    """several stages a rank, in an order of actions that is worked out for all ranks at once"""

    def __init__(
        self, stages, n_microbatches, loss_fn=None, args_chunk_spec=None, kwargs_chunk_spec=None,
        output_merge_spec=None, scale_grads=True, backward_requires_autograd=True
    ):
        super().__init__(
            n_microbatches, loss_fn, args_chunk_spec, kwargs_chunk_spec, output_merge_spec, scale_grads
        )
        self._stages, self._num_stages, self.num_stages = stages, stages[0].num_stages, stages[0].num_stages
        self.pp_group_size, self.rank, self.n_local_stages = stages[0].group_size, stages[0].group_rank, len(stages)
        self.stage_index_to_group_rank = stages[0].stage_index_to_group_rank
        self.pipeline_order_with_comms = None
        self._received, self._unshards = {}, {}

    def _prepare_schedule_with_comms(self, actions, format="compute_only"):
        """by rank: what it computes, to which what is sent and received is added"""
        self._map_stages(actions)
        if format == "compute_comms":
            self.pipeline_order_with_comms = {rank: list(order) for rank, order in actions.items()}
            return
        for rank, order in actions.items():
            for i, action in enumerate(order):
                if action is not None and not action.is_compute_op:
                    raise ValueError(
                        f"Expected compute-only schedule but found communication action '{action}' at rank {rank}, "
                        f"position {i}. Communication actions (e.g. SEND_F, RECV_F, etc.) should not be present when "
                        "format='compute_only'."
                    )
        self.pipeline_order_with_comms = with_communication(
            actions, self.stage_index_to_group_rank, self._num_stages, self._n_microbatches
        )

    def _map_stages(self, actions):
        """which rank has which stage is what the order says"""
        ranks = {}
        for rank, order in actions.items():
            for action in order:
                if action is not None:
                    for each in leaves(action):
                        ranks.setdefault(each.stage_index, rank)
        self.stage_index_to_group_rank = ranks
        for stage in self._stages:
            stage.stage_index_to_group_rank = ranks

    def _by_rank(self, order_of):
        self._prepare_schedule_with_comms({rank: order_of(rank) for rank in range(self.pp_group_size)})

    def _per_round(self, name):
        """micro-batches that go through a stage before the next of its rank has its turn"""
        rounds = max([1, self._n_microbatches // self.pp_group_size])
        if self._n_microbatches % rounds != 0:
            raise ValueError(
                f"{name} requires the number of microbatches to be a multiple of the number of rounds "
                f"({rounds}), but got {self._n_microbatches}."
            )
        return self._n_microbatches // rounds

    def _step_microbatches(self, arg_mbs, kwarg_mbs, target_mbs, losses, return_outputs):
        self._initialize(arg_mbs[0], kwarg_mbs[0])
        if self.pipeline_order_with_comms is None:
            raise AssertionError("Must call _prepare_schedule_with_comms() before calling _step_microbatches()")
        here = {stage.stage_index: stage for stage in self._stages}
        send_ops, backwards = [], {}

        def forward(stage, index, mb):
            self._finish_unshard(index)
            if not stage.is_first and index - 1 not in here:
                _wait_batch_p2p(self._received.pop((RECV_F, index, mb)))
            output = stage.forward_one_chunk(mb, arg_mbs[mb], kwarg_mbs[mb], return_outputs)
            self._maybe_compute_loss(stage, output, target_mbs, mb)
            if index + 1 in here:
                here[index + 1].set_local_fwd_input(output, mb)

        def is_last_backward(index):
            backwards[index] = backwards.get(index, 0) + 1
            return backwards[index] == self._n_microbatches

        def backward(stage, index, mb, whole):
            self._finish_unshard(index)
            if not stage.is_last and index + 1 not in here:
                _wait_batch_p2p(self._received.pop((RECV_B, index, mb)))
            loss = self._maybe_get_loss(stage, mb)
            stage.backward_one_chunk(
                mb, loss=loss, full_backward=whole, last_backward=whole and is_last_backward(index)
            )
            if index - 1 in here:
                here[index - 1].set_local_bwd_input(stage.get_local_bwd_output(mb), mb)

        def perform(action):
            index, kind, mb, _ = action
            stage = here[index]
            if kind == SEND_F:
                send_ops.append(_batch_p2p(stage.get_fwd_send_ops(mb)))
            elif kind == SEND_B:
                send_ops.append(_batch_p2p(stage.get_bwd_send_ops(mb)))
            elif kind == RECV_F:
                self._received[kind, index, mb] = _batch_p2p(stage.get_fwd_recv_ops(mb))
            elif kind == RECV_B:
                self._received[kind, index, mb] = _batch_p2p(stage.get_bwd_recv_ops(mb))
            elif kind == FORWARD:
                forward(stage, index, mb)
            elif kind in (FULL_BACKWARD, BACKWARD_INPUT):
                backward(stage, index, mb, kind == FULL_BACKWARD)
            elif kind == BACKWARD_WEIGHT:
                self._finish_unshard(index)
                stage.backward_weight_one_chunk(mb, last_backward=is_last_backward(index))
            elif kind == REDUCE_GRAD:
                stage.perform_reduce_grad(self._scale())
            elif isinstance(stage.submod, FSDPModule):
                self._change_sharding(kind, stage)

        for action in self.pipeline_order_with_comms[self.rank]:
            for each in leaves(action):
                if self._has_backward or each.computation_type in (FORWARD, SEND_F, RECV_F, UNSHARD, RESHARD):
                    perform(each)
        while send_ops:
            _wait_batch_p2p(send_ops.pop())
        self._update_losses(losses)

    def _change_sharding(self, kind, stage):
        modules = [m for m in stage.submod.modules() if isinstance(m, FSDPModule)]
        if kind == UNSHARD:
            self._unshards[stage.stage_index] = [m.unshard(async_op=True) for m in modules]
        else:
            for module in modules:
                module.reshard()

    def _finish_unshard(self, index):
        for handle in self._unshards.pop(index, []):
            handle.wait()


class _PipelineScheduleRuntime(PipelineScheduleMulti):
    """an order of one's own: _prepare_schedule_with_comms({rank: actions}) before the first step"""

    def register_custom_function(self, computation_type, custom_function):
        _C.refuse("register_custom_function() of a schedule is not modelled", "leave it out")


class ScheduleLoopedBFS(_PipelineScheduleRuntime):
    """all micro-batches through one stage of a rank, then through its next"""

    def __init__(self, stages, n_microbatches, *args, **kwargs):
        super().__init__(stages, n_microbatches, *args, **kwargs)
        self._by_rank(
            lambda rank: looped_order(rank, self.pp_group_size, self.n_local_stages, self._n_microbatches)
        )


class ScheduleInterleaved1F1B(_PipelineScheduleRuntime):
    """forwards and backwards in turn, the earlier micro-batch first, over the stages of a rank"""

    def __init__(self, stages, n_microbatches, *args, **kwargs):
        super().__init__(stages, n_microbatches, *args, **kwargs)
        each = self._per_round("Interleaved 1F1B")
        self._by_rank(lambda rank: interleaved_order(
            rank, self.pp_group_size, self.n_local_stages, self._n_microbatches, each
        ))


class ScheduleInterleavedZeroBubble(_PipelineScheduleRuntime):
    """gradients of parameters fill what others would wait"""

    def __init__(self, stages, n_microbatches, *args, **kwargs):
        super().__init__(stages, n_microbatches, *args, **kwargs)
        each = self._per_round("Zero bubble")
        self._by_rank(lambda rank: zero_bubble_order(
            rank, self.pp_group_size, self.n_local_stages, self._n_microbatches, each
        ))


class _ScheduleV(_PipelineScheduleRuntime):
    """two stages a rank: one on the way down, one on the way up"""

    def __init__(self, stages, n_microbatches, *args, **kwargs):
        super().__init__(stages, n_microbatches, *args, **kwargs)
        if self.n_local_stages != 2:
            raise ValueError(f"ZBV requires exactly 2 stages per rank, but got {self.n_local_stages}.")


class ScheduleZBVZeroBubble(_ScheduleV):
    def __init__(self, stages, n_microbatches, *args, **kwargs):
        super().__init__(stages, n_microbatches, *args, **kwargs)
        self._by_rank(lambda rank: zbv_order(rank, self.pp_group_size, n_microbatches))


class ScheduleDualPipeV(_ScheduleV):
    def __init__(self, stages, n_microbatches, *args, **kwargs):
        super().__init__(stages, n_microbatches, *args, **kwargs)
        if n_microbatches < self._num_stages:
            raise ValueError(
                "DualPipeV requires at least as many microbatches as stages, but got "
                f"{n_microbatches} microbatches and {self._num_stages} stages."
            )
        self._by_rank(lambda rank: dual_pipe_v_order(rank, self.pp_group_size, n_microbatches))


def get_schedule_class(schedule_name):
    named = {
        "1F1B": Schedule1F1B, "Interleaved1F1B": ScheduleInterleaved1F1B, "GPipe": ScheduleGPipe,
        "LoopedBFS": ScheduleLoopedBFS, "InterleavedZeroBubble": ScheduleInterleavedZeroBubble,
        "PipelineScheduleSingle": PipelineScheduleSingle, "PipelineScheduleMulti": PipelineScheduleMulti,
        "ZBVZeroBubble": ScheduleZBVZeroBubble, "DualPipeV": ScheduleDualPipeV,
    }
    for name, schedule in named.items():
        if name.lower() == schedule_name.lower():
            return schedule
    raise ValueError(f"Unknown schedule name '{schedule_name}'. The valid options are {list(named)}")
