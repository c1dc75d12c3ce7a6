from contextlib import contextmanager

import torch
import torch._C as _C
import torch.nn.functional as F
from torch.autograd.function import Function
from torch.distributed import _functional_collectives as funcol
from torch.distributed.tensor._api import distribute_tensor
from torch.distributed.tensor.experimental._context_parallel._load_balancer import _HeadTailLoadBalancer
from torch.distributed.tensor.placement_types import Shard

# Ring attention: each rank has a part of the sequence, keys and values go round. What lives how long is that of
# torch.distributed.tensor.experimental._context_parallel._attention.

_SEQUENCE = 2


class _Options:
    def __init__(self):
        self.convert_to_f32, self.enable_load_balance, self.rotate_method = True, True, "allgather"


_cp_options = _Options()


def set_rotate_method(rotate_method):
    if rotate_method not in ("allgather", "alltoall"):
        raise NotImplementedError(
            f"Context Parallel does not support using {rotate_method} for kv shards rotation"
        )
    _cp_options.rotate_method = rotate_method


# ---- what goes round


class _AllToAllRotater:
    """to the next rank, one step at a time"""

    def __init__(self, group):
        self._group, self._buffer = group, None

    def exchange_buffers(self, mine):
        self._buffer = funcol.permute_tensor(mine.contiguous(), None, self._group)

    def next_buffer(self):
        return funcol.wait_tensor(self._buffer)


class _AllGatherRotater:
    """to all ranks at once"""

    def __init__(self, group):
        self._group, self._all, self._steps = group, None, 0

    def exchange_buffers(self, mine):
        self._steps += 1
        if self._all is None:
            self._all = funcol.all_gather_tensor(mine.contiguous(), 0, self._group)

    def next_buffer(self):
        return funcol.wait_tensor(self._all).chunk(self._group.size())[self._group.rank() - self._steps]


def _rotater(group):
    return _AllToAllRotater(group) if _cp_options.rotate_method == "alltoall" else _AllGatherRotater(group)


def _shared(step, rank, size, is_causal):
    """whether a step computes at all, and if so whether it masks"""
    if not is_causal:
        return True, False
    if step == 0:
        return True, True
    return (rank - step) % size < rank or _cp_options.enable_load_balance, False


# ---- results of several steps as one


class _Merger:
    def __init__(self):
        self._out, self._lse = None, None

    def step(self, out, lse, partial):
        self._dtypes = (out.dtype, lse.dtype)
        if _cp_options.convert_to_f32:
            out = out.to(torch.float32)
            lse = lse.to(torch.float32)
        self._merge(out, lse, partial)

    def _merge(self, block_out, block_lse, partial):
        block_lse = block_lse.unsqueeze(dim=-1)
        if self._lse is None:
            self._lse = block_lse
            self._out = block_out
            return
        lse = self._lse.chunk(2, dim=_SEQUENCE)[1] if partial else self._lse
        out = self._out.chunk(2, dim=_SEQUENCE)[1] if partial else self._out
        out = out - F.sigmoid(block_lse - lse) * (out - block_out)
        lse = lse - F.logsigmoid(lse - block_lse)
        self._lse = _with_part(self._lse, lse, 1, False) if partial else lse
        self._out = _with_part(self._out, out, 1, False) if partial else out

    def results(self):
        out = self._out.to(self._dtypes[0])
        return out, self._lse.squeeze(-1).to(self._dtypes[1])


def _with_part(original, new, at, add):
    """a tensor of two halves of which one is another, or has something added"""
    chunks = list(original.chunk(2, dim=_SEQUENCE))
    if add:
        chunks[at] += new
    else:
        chunks[at] = new
    return torch.cat(chunks, dim=_SEQUENCE)


# ---- the two passes


def _ring_attention(group, query, key, value, is_causal, dropout, is_flash):
    rank, size = group.rank(), group.size()
    next_kv = None
    key = key.contiguous()
    value = value.contiguous()
    merger = _Merger()
    rotater = _rotater(group)
    for i in range(size):
        if i > 0:
            next_kv = rotater.next_buffer()
            key = next_kv[:key.numel()].reshape(key.shape)
            value = next_kv[key.numel():].reshape(value.shape)
        if i < size - 1:
            next_kv = torch.cat([key.flatten(), value.flatten()])
            next_kv = rotater.exchange_buffers(next_kv)
        computes, masks = _shared(i, rank, size, is_causal)
        if not computes:
            continue
        if i == 0 or not _cp_options.enable_load_balance or not is_causal:
            q, k, v, partial = (query, key, value, False)
        elif i <= rank:
            q, k, v, partial = (query, key.chunk(2, dim=2)[0], value.chunk(2, dim=2)[0], False)
        else:
            q, k, v, partial = query.chunk(2, dim=2)[1], key, value, True
        out, logsumexp, *rest = _C.ring_attention(is_flash, q, k, v, dropout)
        merger.step(out, logsumexp, partial)
    return *merger.results(), *rest


def _ring_attention_backward(group, grad_out, query, key, value, out, logsumexp, is_causal, is_flash):
    rank, size = group.rank(), group.size()
    next_kv = None
    next_grad_kv = None
    grad_query_, grad_key_, grad_value_ = None, None, None
    dtype = torch.float32 if _cp_options.convert_to_f32 else query.dtype
    grad_query = torch.zeros_like(query, dtype=dtype)
    grad_key = torch.zeros_like(key, dtype=dtype)
    grad_value = torch.zeros_like(value, dtype=dtype)
    key = key.contiguous()
    value = value.contiguous()
    kv_rotater = _rotater(group)
    dkv_rotater = _AllToAllRotater(group)
    for i in range(size):
        if i > 0:
            buffer = kv_rotater.next_buffer()
            key, value = _key_and_value(buffer, key, value)
        if i != size - 1:
            next_kv = torch.cat([key.flatten(), value.flatten()])
            kv_rotater.exchange_buffers(next_kv)
        computes, masks = _shared(i, rank, size, is_causal)
        if computes:
            if i == 0 or not _cp_options.enable_load_balance or not is_causal:
                q, k, v, out_, dout, lse = (query, key, value, out, grad_out, logsumexp)
            elif i <= rank:
                q, k, v, out_, dout, lse = (
                    query, key.chunk(2, dim=2)[0], value.chunk(2, dim=2)[0], out, grad_out, logsumexp
                )
            else:
                q, k, v, out_, dout, lse = (
                    query.chunk(2, dim=2)[1], key, value, out.chunk(2, dim=2)[1], grad_out.chunk(2, dim=2)[1],
                    logsumexp.chunk(2, dim=2)[1].contiguous()
                )
            grad_query_, grad_key_, grad_value_ = _C.ring_attention_backward(is_flash, dout, q, k, v, out_)
        else:
            grad_query_ = torch.zeros_like(query, dtype=dtype)
            grad_key_ = torch.zeros_like(key, dtype=dtype)
            grad_value_ = torch.zeros_like(value, dtype=dtype)
        if i == 0:
            grad_key += grad_key_
            grad_value += grad_value_
        else:
            next_grad_kv = dkv_rotater.next_buffer()
            grad_key = next_grad_kv[:grad_key.numel()].reshape(grad_key.shape)
            grad_value = next_grad_kv[grad_key.numel():].reshape(grad_value.shape)
            if i <= rank and _cp_options.enable_load_balance:
                grad_key = _with_part(grad_key, grad_key_, 0, True)
                grad_value = _with_part(grad_value, grad_value_, 0, True)
            else:
                grad_key += grad_key_
                grad_value += grad_value_
        next_grad_kv = torch.cat([grad_key.flatten(), grad_value.flatten()])
        dkv_rotater.exchange_buffers(next_grad_kv)
        if i <= rank or not _cp_options.enable_load_balance:
            grad_query += grad_query_
        else:
            grad_query = _with_part(grad_query, grad_query_, 1, True)
    grad_query = grad_query.to(query.dtype)
    next_grad_kv = dkv_rotater.next_buffer().to(key.dtype)
    grad_key = next_grad_kv[:grad_key.numel()].reshape(grad_key.shape)
    grad_value = next_grad_kv[grad_key.numel():].reshape(grad_value.shape)
    return grad_query, grad_key, grad_value


def _key_and_value(buffer, key, value):
    pointer = key.numel()
    return buffer[:pointer].reshape(key.shape), buffer[pointer:pointer + value.numel()].reshape(value.shape)


class _RingAttention(Function):
    @staticmethod
    def forward(ctx, query, key, value, group, is_causal, dropout, is_flash, made):
        # To policies of checkpoints all of it is the attention of DTensors.
        name = "flash" if is_flash else "efficient"
        run = lambda: _ring_attention(group, query, key, value, is_causal, dropout, is_flash)
        results = _C.one_operator(f"_scaled_dot_product_{name}_attention", query, run)
        out, logsumexp, seed, offset = results
        made.extend(results[1:])
        results = None
        last = (seed, offset) if is_flash else (offset, seed)
        ctx.save_for_backward(key, query, value, logsumexp, out, *last)
        ctx.group, ctx.is_causal, ctx.is_flash = group, is_causal, is_flash
        return out

    @staticmethod
    def backward(ctx, grad):
        key, query, value, logsumexp, out, seed, offset = ctx.saved_tensors
        grads = _ring_attention_backward(
            ctx.group, grad, query, key, value, out, logsumexp, ctx.is_causal, ctx.is_flash
        )
        # The last that C++'s node unpacked goes first.
        del offset, seed, out, logsumexp, value, query, key
        return *grads, None, None, None, None, None


def _attention_over(mesh, plain):
    group = mesh.get_group()

    def scaled_dot_product_attention(
        query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False
    ):
        if attn_mask is not None:
            raise NotImplementedError("attn_bias is not supported yet")
        if is_causal and query.size(2) != key.size(2):
            raise NotImplementedError("is_causal requires the same query and context sequence lengths")
        if not is_causal and _cp_options.enable_load_balance:
            raise RuntimeError("Load balancing requires `is_causal=True`.")
        is_half = query.dtype in (torch.float16, torch.bfloat16)
        is_flash = is_half and torch.backends.cuda.flash_sdp_enabled() and query.size(3) % 8 == 0
        if not is_flash and (enable_gqa or not torch.backends.cuda.mem_efficient_sdp_enabled()):
            _C.refuse(
                "ring attention by other kernels than those of flash and memory-efficient attention is not modelled",
                "compute in bfloat16 or float16, with heads of a multiple of 8"
            )
        made = []
        out = _RingAttention.apply(query, key, value, group, is_causal, dropout_p, is_flash, made)
        # What nobody keeps goes as C++'s tuple of results does, the first first; then the operands, the last first.
        while made:
            del made[0]
        del value, key, query
        return out

    return scaled_dot_product_attention


# ---- the context


def _balancer(seq_length, mesh, device):
    return _HeadTailLoadBalancer(seq_length, mesh.size(), device) if _cp_options.enable_load_balance else None


def _context_parallel_buffers(mesh, buffers, buffer_seq_dims, load_balancer=None):
    """this rank's part of each buffer, in the order that gives all ranks as much to do"""
    balanced = load_balancer._generate_indices() if load_balancer else None
    new_buffers = []
    for buffer, seq_dim in zip(buffers, buffer_seq_dims):
        if balanced is not None and seq_dim == 0:
            buffer = torch.index_select(buffer, dim=0, index=balanced[0])
        elif balanced is not None:
            indices = balanced.expand(buffer.size(0), -1)
            for i in range(1, seq_dim):
                indices = indices.unsqueeze(i)
            for _ in range(seq_dim + 1, buffer.ndim):
                indices = indices.unsqueeze(-1)
            indices = indices.expand(buffer.shape)
            buffer = torch.gather(buffer, dim=seq_dim, index=indices)
        part = distribute_tensor(buffer, mesh, [Shard(seq_dim)], src_data_rank=None).to_local()
        new_buffers.append(part)
    return new_buffers


@contextmanager
def context_parallel(mesh, *, buffers=None, buffer_seq_dims=None, no_restore_buffers=None):
    buffers = [] if buffers is None else buffers
    buffer_seq_dims = [] if buffer_seq_dims is None else buffer_seq_dims
    kept = [] if no_restore_buffers is None else list(no_restore_buffers)
    if len(buffers) != len(buffer_seq_dims):
        raise ValueError("`seq_dims` must have the same number of elements as `buffers`.")
    if not all([any([b is buffer for b in buffers]) for buffer in kept]):
        raise ValueError("`no_restore_buffers` must be a subset of `buffers`.")
    with torch.no_grad():
        originals = [None if any([b is k for k in kept]) else b.clone() for b in buffers]
        load_balancer = _balancer(buffers[0].shape[buffer_seq_dims[0]], mesh, buffers[0].device)
        shards = _context_parallel_buffers(mesh, buffers, buffer_seq_dims, load_balancer)
        for buffer, shard in zip(buffers, shards):
            shard = shard.clone()
            buffer.resize_(shard.shape)
            buffer.copy_(shard)
    plain = F.scaled_dot_product_attention
    F.scaled_dot_product_attention = _attention_over(mesh, plain)
    yield
    F.scaled_dot_product_attention = plain
    with torch.no_grad():
        for buffer, original in zip(buffers, originals):
            if original is not None:
                buffer.resize_(original.shape)
                buffer.copy_(original)


def context_parallel_unshard(mesh, buffers, seq_dims, load_balancer=None):
    with torch.no_grad():
        load_balancer = load_balancer or _balancer(buffers[0].shape[seq_dims[0]] * mesh.size(), mesh, buffers[0].device)
        restored = load_balancer._generate_indices(restore=True) if load_balancer else None
        unsharded_buffers = []
        for b, dim in zip(buffers, seq_dims):
            b = b.contiguous()
            unsharded_b = funcol.wait_tensor(funcol.all_gather_tensor(b, dim, mesh))
            for i in range(unsharded_b.size(0) if restored is not None else 0):
                index = restored[0]
                unsharded_b_batch_i = torch.index_select(unsharded_b[i], dim=dim - 1, index=index)
                unsharded_b[i] = unsharded_b_batch_i
            unsharded_buffers.append(unsharded_b)
        return unsharded_buffers
