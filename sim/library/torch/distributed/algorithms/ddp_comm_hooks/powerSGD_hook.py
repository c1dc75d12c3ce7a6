import torch
import torch._C as _C
import torch.distributed as dist
from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import _allreduce_fut

# Gradients compressed into two matrices of low rank. Source: torch.distributed.algorithms.ddp_comm_hooks.powerSGD_hook


def _orthogonalize(matrices, epsilon=0):
    if matrices.shape[2] > 2 and matrices.dtype not in (torch.float16, torch.bfloat16):
        _C.refuse(
            "PowerSGD with a matrix_approximation_rank above 2 is not modelled: its QR factorization is cuSOLVER's",
            "take a rank of 1 or 2",
        )
    num_cols = matrices.shape[2]
    for i in range(num_cols):
        col = matrices[:, :, i : i + 1]
        if epsilon == 0:
            col /= torch.norm(col, dim=1, keepdim=True)
        else:
            col /= torch.norm(col, dim=1, keepdim=True) + epsilon
        if i + 1 < num_cols:
            rest = matrices[:, :, i + 1 :]
            rest -= torch.sum(col * rest, dim=1, keepdim=True) * col


class PowerSGDState:
    def __init__(
        self, process_group, matrix_approximation_rank=1, start_powerSGD_iter=1_000, min_compression_rate=2,
        use_error_feedback=True, warm_start=True, orthogonalization_epsilon=0, random_seed=0,
        compression_stats_logging_frequency=10_000, batch_tensors_with_same_shape=False
    ):
        if (use_error_feedback or warm_start) and start_powerSGD_iter <= 1:
            raise ValueError(
                "Expect `start_powerSGD_iter` > 1 if `use_error_feedback` or `warm_start` is enabled, "
                "because PowerSGD can only be applied after the first two iterations in DDP."
            )
        self.process_group, self.matrix_approximation_rank = process_group, matrix_approximation_rank
        self.start_powerSGD_iter, self.min_compression_rate = start_powerSGD_iter, min_compression_rate
        self.use_error_feedback, self.warm_start = use_error_feedback, warm_start
        self.orthogonalization_epsilon = orthogonalization_epsilon
        self.batch_tensors_with_same_shape = batch_tensors_with_same_shape
        self.error_dict, self.p_memory_dict, self.q_memory_dict, self.iter = {}, {}, {}, 0
        self.total_numel_before_compression = self.total_numel_after_compression = 0

    def maybe_increase_iter(self, bucket):
        if bucket.is_last():
            self.iter += 1

    def compression_stats(self):
        before, after = self.total_numel_before_compression, self.total_numel_after_compression
        return before / after if after > 0 else 0, before, after

    def _counted(self, before, after):
        self.total_numel_before_compression += before
        self.total_numel_after_compression += after

    def _feed_back(self, index, input_tensor):
        """what the last compression lost; a copy of what will be compressed"""
        if index in self.error_dict:
            input_tensor.add_(self.error_dict[index])
        else:
            self.error_dict[index] = torch.zeros(
                input_tensor.shape[0], device=input_tensor.device, dtype=input_tensor.dtype
            )
        return input_tensor.detach().clone()

    def _make_memory(self, index, sizes, like):
        self.p_memory_dict[index] = torch.empty(sizes[0], device=like.device, dtype=like.dtype)
        self.q_memory_dict[index] = torch.empty(sizes[1], device=like.device, dtype=like.dtype)


def _randomize(qs, dtype, epsilon):
    for q in qs:
        q.copy_(torch.empty(*q.shape, device="cpu", dtype=dtype))
        _orthogonalize(q, epsilon)


def powerSGD_hook(state, bucket):
    group = state.process_group if state.process_group is not None else dist.group.WORLD
    world_size = group.size()
    input_tensor = bucket.buffer()
    if state.iter < state.start_powerSGD_iter:
        state.maybe_increase_iter(bucket)
        return _allreduce_fut(group, input_tensor)
    device, dtype, epsilon = input_tensor.device, input_tensor.dtype, state.orthogonalization_epsilon
    bucket_index = bucket.index()
    input_tensor_cp = None
    if state.use_error_feedback:
        input_tensor_cp = state._feed_back(bucket_index, input_tensor)
    matrices, uncompressed_tensors, p_size, q_size = [], [], 0, 0
    for tensor in bucket.gradients():
        matrix = tensor.view(tensor.shape[0], -1)
        n, m = matrix.shape
        rank = min([n, m, state.matrix_approximation_rank])
        if (n + m) * rank * state.min_compression_rate < n * m:
            matrices.append(matrix)
            p_size += n * rank
            q_size += m * rank
            state._counted(n * m, (n + m) * rank)
        else:
            uncompressed_tensors.append(tensor)
            state._counted(n * m, n * m)
    if uncompressed_tensors:
        uncompressed_tensors_memory = torch.cat([tensor.view(-1) for tensor in uncompressed_tensors])
    else:
        uncompressed_tensors_memory = torch.tensor([], device=device, dtype=dtype)
    need_randomize_qs = not state.warm_start or bucket_index not in state.p_memory_dict
    if need_randomize_qs:
        state._make_memory(bucket_index, (p_size, q_size), input_tensor)
    shape_to_tensors = {}
    for matrix in matrices:
        shape_to_tensors.setdefault(tuple(matrix.shape), []).append(matrix)
    tensors_to_compress = []
    for tensors in shape_to_tensors.values():
        if state.batch_tensors_with_same_shape and len(tensors) > 1:
            tensors_to_compress.append(torch.stack(tensors))
        else:
            tensors_to_compress.extend([tensor.unsqueeze(0) for tensor in tensors])
    ps, qs = _low_ranks(state, bucket_index, tensors_to_compress)
    if need_randomize_qs:
        _randomize(qs, dtype, epsilon)
    else:
        for q in qs:
            _orthogonalize(q, epsilon)
    for tensor, q, p in zip(tensors_to_compress, qs, ps):
        torch.bmm(tensor, q, out=p)
    first = dist.all_reduce(uncompressed_tensors_memory, group=group, async_op=True).get_future()

    def unpack(fut):
        memory = fut.value()[0].div_(world_size)
        offset = 0
        for tensor in uncompressed_tensors:
            tensor.copy_(memory[offset : offset + tensor.numel()].view_as(tensor))
            offset += tensor.numel()
        summed = dist.all_reduce(state.p_memory_dict[bucket_index], group=group, async_op=True)
        return summed.get_future().wait()[0]

    def compute_qs(fut):
        state.p_memory_dict[bucket_index] = fut.value()
        for p in ps:
            _orthogonalize(p, epsilon)
        for tensor, p, q in zip(tensors_to_compress, ps, qs):
            torch.bmm(tensor.transpose(1, 2), p, out=q)
        summed = dist.all_reduce(state.q_memory_dict[bucket_index], group=group, async_op=True)
        return summed.get_future().wait()[0]

    def decompress(fut):
        state.q_memory_dict[bucket_index] = fut.value().div_(world_size)
        for p, q, tensor in zip(ps, qs, tensors_to_compress):
            torch.bmm(p, q.transpose(1, 2), out=tensor)
        if state.batch_tensors_with_same_shape:
            for tensor in tensors_to_compress:
                if tensor.shape[0] > 1:
                    for i, original in enumerate(shape_to_tensors[tuple(tensor.shape[1:])]):
                        original.copy_(tensor[i])
        torch.cuda.synchronize(device)
        if state.use_error_feedback:
            state.error_dict[bucket_index] = input_tensor_cp - input_tensor
        if not state.warm_start:
            state.p_memory_dict.clear()
            state.q_memory_dict.clear()
        state.maybe_increase_iter(bucket)
        return input_tensor

    return first.then(unpack).then(compute_qs).then(decompress)


def batched_powerSGD_hook(state, bucket):
    """a bucket as one matrix, which PyTorch's own check of its rank stops once it would be compressed"""
    if state.iter < state.start_powerSGD_iter:
        state.maybe_increase_iter(bucket)
        return _allreduce_fut(state.process_group, bucket.buffer())
    raise AssertionError


def _low_ranks(state, index, tensors):
    """parts of the two memories, for each tensor or batch of them"""
    ps, qs, p_at, q_at = [], [], 0, 0
    for tensor in tensors:
        count, n, m = tensor.shape
        rank = min([n, m, state.matrix_approximation_rank])
        ps.append(state.p_memory_dict[index][p_at : p_at + count * n * rank].view(count, n, rank))
        qs.append(state.q_memory_dict[index][q_at : q_at + count * m * rank].view(count, m, rank))
        p_at += count * n * rank
        q_at += count * m * rank
    return ps, qs
