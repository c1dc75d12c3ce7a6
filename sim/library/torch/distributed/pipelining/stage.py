import torch
import torch._C as _C
import torch.distributed as dist
from torch.distributed.fsdp import FSDPModule
from torch.distributed.pipelining._backward import stage_backward, stage_backward_input, stage_backward_weight
from torch.nn.parallel import DistributedDataParallel
from torch.utils._pytree import tree_map_only


class _RecvInfo:
    """a tensor that comes from another stage, and where it goes"""

    def __init__(self, source, buffer):
        self.source, self.buffer = source, buffer


def _as_tuple(output):
    if type(output) is list:
        return tuple(output)
    return output if isinstance(output, tuple) else (output,)


def _made_like(example, device):
    return torch.empty(example.size(), dtype=example.dtype, device=device)


class PipeliningShapeError(RuntimeError):
    """what goes between stages is of another shape or type than was told"""


def _validate(desc, expected, given):
    """Source: torch.distributed.pipelining._utils.validate_tensors_metadata"""
    if len(expected) != len(given):
        raise PipeliningShapeError(
            f"{desc}: Number of values ({len(given)}) does not match expected number ({len(expected)})"
        )
    for i, (want, have) in enumerate(zip(expected, given)):
        for name, one, other in (
            ("shape", want.shape, have.shape), ("dtype", want.dtype, have.dtype),
            ("stride", want.stride(), have.stride()),
        ):
            if one != other:
                raise PipeliningShapeError(f"{desc}: value {i} has a {name} mismatch: expected {one} actual {other}")


class PipelineStage:
    """A part of a model, and what goes in and out of it for each micro-batch. Source:
    torch.distributed.pipelining.stage"""

    def __init__(
        self, submodule, stage_index, num_stages, device, input_args=None, output_args=None, group=None, dw_builder=None
    ):
        if stage_index >= num_stages:
            raise ValueError(f"Stage index {stage_index} is out of range of {num_stages}")
        if dw_builder is not None:
            _C.refuse("PipelineStage(dw_builder=...) is not modelled", "leave it out")
        self.submod, self.stage_index, self.num_stages = submodule, stage_index, num_stages
        self.device, self.group = device, group
        self.group_rank, self.group_size = dist.get_rank(group), dist.get_world_size(group)
        if self.group_size > num_stages:
            raise RuntimeError(
                f"Pipeline group size {self.group_size} cannot be larger than number of stages {num_stages}"
            )
        self.fwd_cache, self.bwd_cache, self.output_chunks, self.backward_state = {}, {}, [], {}
        self.has_backward = False
        self.args_recv_info, self.act_send_info, self.grad_recv_info, self.chunks = {}, {}, {}, None
        self.stage_index_to_group_rank = {i: i % self.group_size for i in range(num_stages)}
        self.inputs_meta = self._outputs_meta = None
        if input_args is None:
            return
        self.inputs_meta = _as_tuple(input_args)
        if output_args is None:
            with torch.no_grad():
                output_args = tuple([each.to("meta") for each in _as_tuple(submodule(*self.inputs_meta))])
        self._outputs_meta = _as_tuple(output_args)

    @property
    def is_first(self):
        return self.stage_index == 0

    @property
    def is_last(self):
        return self.stage_index == self.num_stages - 1

    # ---- what is sent and received

    def _prepare_forward_infra(self, num_microbatches, args, kwargs=None):
        outputs = ()
        if self.inputs_meta is None:
            outputs = self._shape_inference(args, kwargs or {})
        for chunk_id in range(num_microbatches):
            infos = None
            if not self.is_first:
                infos = [_RecvInfo(self.stage_index - 1, _made_like(each, self.device)) for each in self.inputs_meta]
                if self.has_backward:
                    for info in infos:
                        info.buffer.requires_grad_(True)
            self.args_recv_info[chunk_id] = infos
        for index in range(len(self._outputs_meta)):
            self.act_send_info[index] = [] if self.is_last else [self.stage_index + 1]
        return outputs

    def _shape_inference(self, args, kwargs):
        """one pass without gradients, of zeros that are shaped as what the stage before says its results are. Returns
        what the next stage, if it is on the same rank, is to be told"""
        from_here = not self.is_first and self.stage_index_to_group_rank[self.stage_index - 1] == self.group_rank
        if self.is_first or from_here:
            args = tree_map_only(torch.Tensor, lambda x: x.to("meta"), args)
        else:
            objects = [None]
            dist.recv_object_list(
                objects, src=self._peer(self.stage_index - 1), group=self.group, device=self.device, use_batch=True
            )
            args = objects[0]
        self.inputs_meta = args
        args = tree_map_only(torch.Tensor, lambda x: torch.zeros_like(x, device=self.device), args)
        with torch.no_grad():
            outputs = self.submod(*args, **kwargs)
        if isinstance(outputs, torch.Tensor):
            outputs = [outputs]
        outputs_meta = tuple(tree_map_only(torch.Tensor, lambda x: x.to("meta"), outputs))
        self._outputs_meta = outputs_meta
        if self.is_last or self.stage_index_to_group_rank[self.stage_index + 1] == self.group_rank:
            return outputs_meta
        dist.send_object_list(
            [outputs_meta], dst=self._peer(self.stage_index + 1), group=self.group, device=self.device, use_batch=True
        )
        return ()

    def _prepare_backward_infra(self, num_microbatches):
        self.chunks = num_microbatches
        for chunk_id in range(num_microbatches):
            self.grad_recv_info[chunk_id] = [] if self.is_last else [
                _RecvInfo(self.stage_index + 1, _made_like(each, self.device)) for each in self._outputs_meta
            ]

    def _peer(self, stage_index):
        rank = self.stage_index_to_group_rank[stage_index]
        return rank if self.group is None else dist.get_global_rank(self.group, rank)

    def _recv_ops(self, infos):
        return [dist.P2POp(dist.irecv, i.buffer, self._peer(i.source), self.group) for i in infos]

    def get_fwd_recv_ops(self, chunk_id):
        return [] if self.is_first else self._recv_ops(self.args_recv_info[chunk_id])

    def get_bwd_recv_ops(self, chunk_id):
        return [] if not self.has_backward or self.is_last else self._recv_ops(self.grad_recv_info[chunk_id])

    def get_fwd_send_ops(self, chunk_id):
        output_tuple, _ = self.fwd_cache[chunk_id]
        return [
            dist.P2POp(dist.isend, out, self._peer(target), self.group)
            for index, out in enumerate(output_tuple) for target in self.act_send_info[index]
        ]

    def get_bwd_send_ops(self, chunk_id):
        if not self.has_backward or self.is_first:
            return []
        grads_input = self.bwd_cache.pop(chunk_id)
        sources = [info.source for info in self.args_recv_info[0]]
        return [
            dist.P2POp(dist.isend, grad, self._peer(source), self.group)
            for grad, source in zip(grads_input, sources) if grad is not None
        ]

    def _get_init_p2p_neighbors_ops(self):
        """a number to each neighbour and back, so that communicators are there"""
        recv_tensor = torch.zeros(1, device=self.device, dtype=torch.float32)
        send_tensor = torch.tensor(self.stage_index, device=self.device, dtype=torch.float32)
        before = self.stage_index_to_group_rank.get(self.stage_index - 1)
        behind = self.stage_index_to_group_rank.get(self.stage_index + 1)
        ops = []
        if not self.is_first:
            ops.append(dist.P2POp(dist.irecv, recv_tensor, group_peer=before, group=self.group))
        if not self.is_last:
            ops.append(dist.P2POp(dist.isend, send_tensor, group_peer=behind, group=self.group))
        if not self.is_first:
            ops.append(dist.P2POp(dist.isend, send_tensor, group_peer=before, group=self.group))
        if not self.is_last:
            ops.append(dist.P2POp(dist.irecv, recv_tensor, group_peer=behind, group=self.group))
        return ops

    # ---- between two stages of one rank

    def set_local_fwd_input(self, prev_stage_outputs, mb_index):
        for info, tensor in zip(self.args_recv_info[mb_index], _as_tuple(prev_stage_outputs)):
            info.buffer = tensor.detach().requires_grad_(True)

    def get_local_bwd_output(self, mb_index):
        return self.bwd_cache.pop(mb_index)

    def set_local_bwd_input(self, next_stage_bwd_outputs, mb_index):
        for info, tensor in zip(self.grad_recv_info[mb_index], next_stage_bwd_outputs):
            info.buffer = tensor

    def clear_runtime_states(self):
        self.fwd_cache.clear()
        self.output_chunks.clear()
        for infos in self.args_recv_info.values():
            for info in infos or []:
                info.buffer.grad = None

    # ---- one micro-batch

    def forward_one_chunk(self, chunk_id, args, kwargs=None, save_forward_output=True):
        _C.begin_part(f"stage {self.stage_index}, microbatch {chunk_id}")
        if self.is_first:
            composite_args = args
            if not kwargs:
                _validate(f"Stage {self.stage_index} forward inputs", self.inputs_meta, args)
        else:
            composite_args = tuple([info.buffer for info in self.args_recv_info[chunk_id]])
        composite_kwargs = kwargs or {}
        if isinstance(self.submod, DistributedDataParallel):
            with self.submod.no_sync():
                output = self.submod(*composite_args, **composite_kwargs)
        else:
            output = self.submod(*composite_args, **composite_kwargs)
        output_tuple = _as_tuple(output)
        if self.is_last and save_forward_output:
            self.output_chunks.append(output)
        self.fwd_cache[chunk_id] = (output_tuple, [*composite_args, *composite_kwargs.values()])
        _validate(f"Stage {self.stage_index} forward outputs", self._outputs_meta, output_tuple)
        _C.begin_part(None)
        return output

    def backward_one_chunk(self, chunk_id, loss=None, full_backward=True, last_backward=False):
        if not self.has_backward:
            return
        _C.begin_part(f"stage {self.stage_index}, microbatch {chunk_id}, backward")
        stage_output, input_values = self.fwd_cache.pop(chunk_id)
        if self.is_last:
            given, grads = loss, None
        else:
            given, grads = stage_output, tuple([info.buffer for info in self.grad_recv_info[chunk_id]])
        if full_backward:
            run = lambda: stage_backward(given, grads, input_values)
            self.bwd_cache[chunk_id] = self._backward(run, last_backward)
        else:
            self.bwd_cache[chunk_id] = self._backward_input(chunk_id, given, grads, input_values, last_backward)
        if self.is_last and not self.is_first:
            for t in stage_output:
                if not t._is_view():
                    t.detach_()
        _C.begin_part(None)

    def _backward_input(self, chunk_id, stage_output, output_grads, input_values, last_backward):
        """gradients of the inputs alone; of the first stage, which needs none, all of it waits"""
        grads_input, param_groups = (), None
        if not self.is_first:
            if isinstance(stage_output, torch.Tensor):
                stage_output = (stage_output,)
            run = lambda: stage_backward_input(stage_output, output_grads, input_values, self.submod.parameters())
            grads_input, param_groups = self._backward(run, last_backward)
        self.backward_state[chunk_id] = (input_values, param_groups, stage_output, output_grads)
        return grads_input

    def backward_weight_one_chunk(self, chunk_id, last_backward=False):
        if not self.has_backward:
            return
        if chunk_id not in self.backward_state:
            raise AssertionError(
                f"Attempted to run backward_weight_one_chunk for chunk {chunk_id}"
                " without first calling `backward_one_chunk(full_backward=False)`"
            )
        _C.begin_part(f"stage {self.stage_index}, microbatch {chunk_id}, backward of weights")
        input_values, param_groups, stage_output, output_grads = self.backward_state.pop(chunk_id)
        if self.is_first:
            run = lambda: stage_backward(stage_output, output_grads, input_values)
        else:
            run = lambda: stage_backward_weight(self.submod.parameters(), param_groups)
        self._backward(run, last_backward)
        _C.begin_part(None)

    def _backward(self, run, last_backward):
        if isinstance(self.submod, DistributedDataParallel):
            if last_backward:
                self.submod.reducer.prepare_for_backward([])
                return run()
            with self.submod.no_sync():
                return run()
        if isinstance(self.submod, FSDPModule):
            self.submod.set_is_last_backward(False)
            self.submod.set_reshard_after_backward(False)
            self.submod.set_requires_gradient_sync(False)
        return run()

    def perform_reduce_grad(self, grad_scale_factor):
        if isinstance(self.submod, FSDPModule):
            self.submod.set_is_last_backward(True)
            self.submod.set_reshard_after_backward(True)
            self.submod.set_requires_gradient_sync(True)
            state = self.submod._get_fsdp_state()
            for each in state._state_ctx.all_states:
                if each._fsdp_param_group:
                    each._fsdp_param_group.post_backward()
            state._root_post_backward_final_callback()
        if grad_scale_factor != 1:
            for p in self.submod.parameters():
                if p.grad is not None:
                    p.grad.div_(grad_scale_factor)
