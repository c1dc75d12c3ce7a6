"""Llama 3.1 8B as it is trained with fully_shard: bf16 parameters, fp32 reduction, every second product of two matrices
kept by the blocks' checkpoints, fused AdamW, two sequences of 8,192 tokens a GPU: llama3_8b.py [compiled] [loss] [long=N]: blocks
and the loss by torch.compile; long: whole blocks are recomputed, N GPUs share one sequence of N times 32,768 tokens."""
import contextlib
import os
import sys
from collections import defaultdict

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import checkpoint_wrapper
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.distributed.tensor.experimental import context_parallel
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.checkpoint import CheckpointPolicy, create_selective_checkpoint_contexts

DIM, LAYERS, HEADS, KV_HEADS, HIDDEN, VOCAB = 4096, 32, 32, 8, 14336, 128256
STEPS, SHARED = 3, int(next((word[5:] for word in sys.argv if word.startswith("long=")), 0))
BATCH, LENGTH = (1, 32768 * SHARED) if SHARED else (2, 8192)


def rotations(size, length, theta=500000.0):
    frequencies = 1.0 / (theta ** (torch.arange(0, size, 2)[: size // 2].float() / size))
    angles = torch.outer(torch.arange(length), frequencies).float()
    return torch.polar(torch.ones_like(angles), angles)


def rotated(q, k, cis):
    q_pairs = torch.view_as_complex(q.float().reshape(*q.shape[:-1], -1, 2))
    k_pairs = torch.view_as_complex(k.float().reshape(*k.shape[:-1], -1, 2))
    cis = cis[: q.shape[1]].view(1, q.shape[1], 1, -1)
    q_turned = torch.view_as_real(q_pairs * cis).flatten(3)
    k_turned = torch.view_as_real(k_pairs * cis).flatten(3)
    return q_turned.type_as(q), k_turned.type_as(k)


def repeated(x, times):
    b, t, h, d = x.shape
    return x if times == 1 else x[:, :, :, None, :].expand(b, t, h, times, d).reshape(b, t, h * times, d)


class RMSNorm(nn.Module):
    def __init__(self, size, eps):
        super().__init__()
        self.eps, self.weight = eps, nn.Parameter(torch.ones(size))

    def scaled(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)

    def forward(self, x):
        out = self.scaled(x.float()).type_as(x)
        return out * self.weight


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.size = DIM // HEADS
        self.wq = nn.Linear(DIM, HEADS * self.size, bias=False)
        self.wk = nn.Linear(DIM, KV_HEADS * self.size, bias=False)
        self.wv = nn.Linear(DIM, KV_HEADS * self.size, bias=False)
        self.wo = nn.Linear(HEADS * self.size, DIM, bias=False)

    def forward(self, x, cis):
        b, t, _ = x.shape
        q, k, v = self.wq(x), self.wk(x), self.wv(x)
        q, k, v = q.view(b, t, -1, self.size), k.view(b, t, -1, self.size), v.view(b, t, -1, self.size)
        q, k = rotated(q, k, cis)
        keys, values = repeated(k, HEADS // KV_HEADS), repeated(v, HEADS // KV_HEADS)
        q, k, v = q.transpose(1, 2), keys.transpose(1, 2), values.transpose(1, 2)
        out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        out = out.transpose(1, 2).contiguous()
        out = out.view(b, t, -1)
        return self.wo(out)


class FeedForward(nn.Module):
    def __init__(self):
        super().__init__()
        self.w1, self.w2 = nn.Linear(DIM, HIDDEN, bias=False), nn.Linear(HIDDEN, DIM, bias=False)
        self.w3 = nn.Linear(DIM, HIDDEN, bias=False)

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention, self.feed_forward = Attention(), FeedForward()
        self.attention_norm, self.ffn_norm = RMSNorm(DIM, eps=1e-5), RMSNorm(DIM, eps=1e-5)

    def forward(self, x, cis):
        h = x + self.attention(self.attention_norm(x), cis)
        out = h + self.feed_forward(self.ffn_norm(h))
        return out


class Llama(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok_embeddings = nn.Embedding(VOCAB, DIM)
        self.register_buffer("cis", rotations(DIM // HEADS, LENGTH), persistent=False)
        self.layers = nn.ModuleDict({str(i): Block() for i in range(LAYERS)})
        self.norm, self.output = RMSNorm(DIM, eps=1e-5), nn.Linear(DIM, VOCAB, bias=False)

    def forward(self, tokens):
        h = self.tok_embeddings(tokens)
        for layer in self.layers.values():
            h = layer(h, self.cis)
        h = self.norm(h)
        logits = self.output(h)
        return logits


KEPT = {
    torch.ops.aten.mm.default,
    torch.ops.aten._scaled_dot_product_efficient_attention.default,
    torch.ops.aten._scaled_dot_product_flash_attention.default,
    torch.ops.aten.max.default,
}


def selective():
    """every second product is computed again"""
    counts = defaultdict(int)

    def policy(ctx, op, *args, **kwargs):
        if op == torch.ops.aten.mm.default:
            counts[ctx.is_recompute] += 1
        kept = op in KEPT and not (op == torch.ops.aten.mm.default and counts[ctx.is_recompute] % 2 == 0)
        return CheckpointPolicy.MUST_SAVE if kept else CheckpointPolicy.PREFER_RECOMPUTE

    return create_selective_checkpoint_contexts(policy)


def loss_of(logits, labels):
    return F.cross_entropy(logits.flatten(0, 1).float(), labels.flatten(0, 1))


def in_parts(mesh, tensors, dims):
    """sequences over the ranks of a mesh"""
    stack = contextlib.ExitStack()
    stack.enter_context(context_parallel(mesh, buffers=tensors, buffer_seq_dims=dims, no_restore_buffers=set(tensors[:2])))
    stack.enter_context(sdpa_kernel([SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION]))
    return stack


def clip(parameters):
    grads = [p.grad for p in parameters if p.grad is not None]
    norm = torch.nn.utils.get_total_norm(grads, 2.0, False, True)
    torch.nn.utils.clip_grads_with_norm_(parameters, 1.0, norm, True)


def main():
    words = sys.argv[1:]
    loss_function = torch.compile(loss_of) if "loss" in words else loss_of
    dist.init_process_group("nccl")
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    if SHARED > 1:
        both = init_device_mesh("cuda", (dist.get_world_size() // SHARED, SHARED), mesh_dim_names=("dp", "cp"))
        mesh = both["dp", "cp"]._flatten("dp_cp")
    else:
        mesh = init_device_mesh("cuda", (dist.get_world_size(),), mesh_dim_names=("dp",))
    with torch.device("meta"):
        model = Llama()
    for name, layer in model.layers.named_children():
        given = {} if SHARED else {"context_fn": selective}
        layer = checkpoint_wrapper(layer, preserve_rng_state=False, **given)
        model.layers.register_module(name, torch.compile(layer, fullgraph=True) if "compiled" in words else layer)
    options = {
        "mesh": mesh, "mp_policy": MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    }
    for i, layer in enumerate(model.layers.values()):  # the last one is wanted again at once
        fully_shard(layer, reshard_after_forward=i + 1 < LAYERS, **options)
    fully_shard(model, reshard_after_forward=True, **options)
    model.to_empty(device="cuda")
    with torch.no_grad():
        with torch.device("cuda"):
            model.cis = rotations(DIM // HEADS, LENGTH)
        for p in model.parameters():
            nn.init.normal_(p, std=0.02)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, betas=(0.9, 0.95), weight_decay=0.1, foreach=True)
    for step in range(STEPS):
        tokens = torch.randint(0, VOCAB, (BATCH, LENGTH + 1))
        x, y = tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous()
        x, y = x.to("cuda"), y.to("cuda")
        optimizer.zero_grad()
        if SHARED > 1:
            with in_parts(both["cp"], [x, y, model.cis], [1, 1, 0]):
                logits = model(x)
                loss = loss_function(logits, y)
                del logits
                loss.backward()
        else:
            logits = model(x)
            loss = loss_function(logits, y)
            del logits
            loss.backward()
        clip(list(model.parameters()))
        optimizer.step()
        peaks = torch.cuda.max_memory_reserved(), torch.cuda.max_memory_allocated()
        print(step, *[round(peak / 2**30, 2) for peak in peaks])
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
