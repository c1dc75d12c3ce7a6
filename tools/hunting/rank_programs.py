"""Programs of many ranks that shard, replicate or split a model: drawn as whole scripts."""

import dataclasses

from . import rank_models as models
from .rand import indent


@dataclasses.dataclass
class Script:
    text: str
    world: int
    name: str
    settle: bool = False  # wait for NCCL's watchdog, whose looks are by the clock


def head(r, imports):
    return models.HEAD % (imports, r.pick("", "", "", ", device_id=torch.device('cuda', int(os.environ['LOCAL_RANK']))"))


def loop(r, net, steps=0, sync=None, clip=True, scaler=False, autocast=None, after="", evaluates=True, plain=False, params="model.parameters()", model="model",
         clips="torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)"):
    """a training loop; `sync`: lines before and a context round a micro-batch, by names of how many there are"""
    steps = steps or r.randint(2, 3)
    micros = r.pick(1, 1, 2, 3) if sync else 1
    autocast = r.chance(0.07) if autocast is None else autocast
    scaler = scaler and r.chance(0.04)
    dtype = "torch.float16" if scaler else "torch.bfloat16"
    out = f"optimizer = {models.optimizer(r, params, plain)}\n"
    if r.chance(0.2):
        out += r.pick("scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 10)\n", "scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: 0.9 ** s)\n")
        after += "scheduler.step()\n"
    if scaler:
        out += "scaler = torch.amp.GradScaler('cuda')\n"
    forward = f"x = {net.x}\n"
    inner = f"out = {model}(x)\nloss = {net.loss}{' / %d' % micros if micros > 1 else ''}\n"
    if autocast or scaler:
        inner = f"with torch.autocast('cuda', dtype={dtype}):\n" + indent(inner)
    forward += inner + ("scaler.scale(loss).backward()\n" if scaler else "loss.backward()\n")
    if micros > 1:
        before, context = sync
        body = before % {"last": "micro == %d" % (micros - 1)} if before else ""
        body += "with %s:\n" % (context % {"last": "micro == %d" % (micros - 1)}) + indent(forward) if context else forward
        forward = "for micro in range(%d):\n" % micros + indent(body)
    first, clip = r.chance(0.3), clip and r.chance(0.3)
    step = "optimizer.zero_grad()\n" if first else ""
    step += forward
    if scaler:
        step += ("scaler.unscale_(optimizer)\n" + clips + "\n" if clip else "") + "scaler.step(optimizer)\nscaler.update()\n"
    else:
        step += (clips + "\n" if clip else "") + "optimizer.step()\n"
    step += "" if first else r.pick("optimizer.zero_grad()\n", "optimizer.zero_grad(set_to_none=True)\n", "optimizer.zero_grad()\n", "optimizer.zero_grad(set_to_none=False)\n" if not plain else "optimizer.zero_grad()\n")
    if r.chance(0.3):
        step += r.pick("print(step, loss.item())\n", "mean = loss.detach().clone()\ndist.all_reduce(mean, op=dist.ReduceOp.AVG)\n", "dist.barrier()\n", "torch.cuda.empty_cache()\n")
    out += f"for step in range({steps}):\n" + indent(step + after)
    if evaluates and r.chance(0.25):
        out += "model.eval()\nwith torch.no_grad():\n    for _ in range(2):\n        model(%s)%s\n" % (net.x, r.pick("", ".argmax(-1)", ".float().mean()"))
        if r.chance(0.3):
            out += "model.train()\n" + indent(f"out = {model}({net.x})\nx = {net.x}\nloss = {net.loss}\nloss.backward()\n" if "out" not in net.loss.split("(")[0] else "", 0)
    return out


END = "dist.destroy_process_group()\n"


def recomputed(r, block):
    """recomputation by wrapping; text of lines and imports"""
    if not r.chance(0.2) or block.startswith("nn."):
        return "", ""
    how = r.pick("checkpoint_wrapper", "checkpoint_wrapper", "functools.partial(checkpoint_wrapper, checkpoint_impl=CheckpointImpl.NO_REENTRANT)")
    return (f"apply_activation_checkpointing(model, checkpoint_wrapper_fn={how}, check_fn=lambda m: isinstance(m, {block}))\n",
            "from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import CheckpointImpl, apply_activation_checkpointing, checkpoint_wrapper\n")


def ddp(r):
    net = models.any_net(r)
    imports = "from torch.nn.parallel import DistributedDataParallel as DDP\n"
    options, tail, sync_bn = ["device_ids=[device]"], "", ""
    if r.chance(0.3):
        options.append("gradient_as_bucket_view=True")
    if r.chance(0.4):
        options.append("bucket_cap_mb=%s" % r.pick("1", "2", "5", "0.5"))
    kind = r.pick("", "", "static", "unused")
    if kind == "static":
        options.append("static_graph=True")
    elif kind == "unused":
        options.append("find_unused_parameters=True")
    if r.chance(0.2):
        options.append("broadcast_buffers=False")
    if r.chance(0.2):
        options = options[1:] or ["broadcast_buffers=True"]
    hook = r.pick(*[""] * 5, "default.fp16_compress_hook", "default.bf16_compress_hook", "default.allreduce_hook", "powerSGD")
    if hook == "powerSGD":
        imports += "from torch.distributed.algorithms.ddp_comm_hooks import powerSGD_hook as powerSGD\n"
        tail = "model.register_comm_hook(powerSGD.PowerSGDState(process_group=None, matrix_approximation_rank=%d, start_powerSGD_iter=%d), powerSGD.powerSGD_hook)\n" % (r.pick(1, 2, 4), r.pick(2, 3))
    elif hook:
        imports += "from torch.distributed.algorithms.ddp_comm_hooks import default_hooks as default\n"
        tail = "model.register_comm_hook(None, %s)\n" % hook
    body = "model = Net().cuda()\n"
    if r.chance(0.1):
        body += "for p in list(model.parameters())[:2]:\n    p.requires_grad_(False)\n"
    body += f"model = DDP(model, {', '.join(options)})\n" + tail
    body += loop(r, net, sync=(None, "contextlib.nullcontext() if %(last)s else model.no_sync()"), scaler=True)
    return Script(head(r, imports) + net.code + "\n\n" + body + END, r.pick(2, 3, 4, 8), "ddp " + hook, settle=True)


def zero(r):
    net = models.any_net(r)
    imports = "from torch.nn.parallel import DistributedDataParallel as DDP\nfrom torch.distributed.optim import ZeroRedundancyOptimizer\n"
    overlap = r.chance(0.2)
    body = "model = DDP(Net().cuda(), device_ids=[device]%s)\n" % r.pick("", ", gradient_as_bucket_view=True", ", static_graph=True")
    kind = r.pick("torch.optim.AdamW, lr=3e-4", "torch.optim.SGD, lr=0.1, momentum=0.9", "torch.optim.Adam, lr=1e-3, weight_decay=0.1")
    options = r.pick("", ", parameters_as_bucket_view=True")
    made = f"optimizer = ZeroRedundancyOptimizer(model.parameters(), optimizer_class={kind}{options}"
    if overlap:
        imports += ("from torch.distributed.algorithms.ddp_comm_hooks.ddp_zero_hook import hook_with_zero_step, hook_with_zero_step_interleaved\n"
                    "from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import allreduce_hook\n")
        made += ", overlap_with_ddp=True)\nmodel.register_comm_hook(None, %s(allreduce_hook, model, optimizer%s))" % r.pick(
            ("hook_with_zero_step", ""), ("hook_with_zero_step", ", shard_buckets=True"), ("hook_with_zero_step_interleaved", ""))
    else:
        made += ")"
    text = loop(r, net, steps=4 if overlap else 0, clip=not overlap)
    text = made + "\n" + text[text.index("\n") + 1:]
    return Script(head(r, imports) + net.code + "\n\n" + body + text + END, r.pick(2, 3, 4), "zero" + (" overlap" if overlap else ""), settle=True)


def fsdp1(r):
    net = models.any_net(r, norms=False)
    block = net.block
    world = r.pick(2, 3, 4, 8)
    imports = ("from torch.distributed.fsdp import (BackwardPrefetch, CPUOffload, FullOptimStateDictConfig, FullStateDictConfig, FullyShardedDataParallel as FSDP,\n"
               "                                    LocalStateDictConfig, MixedPrecision, ShardedStateDictConfig, ShardedOptimStateDictConfig, ShardingStrategy, StateDictType)\n"
               "from torch.distributed.fsdp.wrap import ModuleWrapPolicy, CustomPolicy, size_based_auto_wrap_policy, transformer_auto_wrap_policy, lambda_auto_wrap_policy\n")
    options, body = ["device_id=device"], ""
    strategy = r.pick("", "FULL_SHARD", "SHARD_GRAD_OP", "NO_SHARD", "HYBRID_SHARD", "_HYBRID_SHARD_ZERO2")
    if strategy:
        options.append("sharding_strategy=ShardingStrategy." + strategy)
    if "HYBRID" in strategy:
        world = r.pick(4, 8)
        imports += "from torch.distributed.device_mesh import init_device_mesh\n"
        body += "mesh = init_device_mesh('cuda', (2, world // 2), mesh_dim_names=('replicate', 'shard'))\n"
        options.append("device_mesh=mesh")
    policy = r.pick("", f"ModuleWrapPolicy({{{block}}})", f"ModuleWrapPolicy({{{block}}})", f"functools.partial(transformer_auto_wrap_policy, transformer_layer_cls={{{block}}})",
                    "functools.partial(size_based_auto_wrap_policy, min_num_params=%d)" % r.pick(1000, 10000, 100000),
                    f"functools.partial(lambda_auto_wrap_policy, lambda_fn=lambda m: isinstance(m, ({block}, nn.Embedding)))" if "tied" not in net.code and "self.head.weight" not in net.code else "",
                    f"CustomPolicy(lambda m: isinstance(m, {block}))")
    if policy:
        options.append("auto_wrap_policy=" + policy)
    mixed = r.chance(0.4)
    if mixed:
        options.append("mixed_precision=MixedPrecision(%s)" % r.pick("param_dtype=torch.bfloat16", "param_dtype=torch.bfloat16, reduce_dtype=torch.float32", "param_dtype=torch.float16, reduce_dtype=torch.float16, buffer_dtype=torch.float16",
                                                                     "reduce_dtype=torch.bfloat16", "param_dtype=torch.bfloat16, keep_low_precision_grads=True", "param_dtype=torch.bfloat16, cast_forward_inputs=False",
                                                                     "param_dtype=torch.bfloat16, cast_root_forward_inputs=False"))
    original = r.chance(0.5)
    if original:
        options.append("use_orig_params=True")
    if r.chance(0.3):
        options.append("backward_prefetch=" + r.pick("None", "BackwardPrefetch.BACKWARD_POST", "BackwardPrefetch.BACKWARD_PRE"))
    if r.chance(0.2):
        options.append("forward_prefetch=True")
    if r.chance(0.3):
        options.append("limit_all_gathers=False")
    offload = r.chance(0.15) and strategy != "NO_SHARD"
    if offload:
        options.append("cpu_offload=CPUOffload(offload_params=True)")
    if r.chance(0.2):
        options.append("sync_module_states=True")
    start = r.pick("Net()", "Net().cuda()", "Net()") if not offload and "sync_module" not in str(options) else "Net()"
    body += f"model = FSDP({start}, {', '.join(options)})\n"
    more, imported = recomputed(r, block)
    body += more
    sync = (None, "contextlib.nullcontext() if %(last)s else model.no_sync()") if not offload else None
    body += loop(r, net, sync=sync, clips="model.clip_grad_norm_(%s)" % r.pick("1.0", "0.5", "1.0, norm_type=float('inf')"), scaler=False, autocast=False if mixed else None)
    state = r.pick(*[""] * 6, "full", "full cpu", "sharded", "local", "optim full", "optim sharded", "summon", "optim rank0", "optim to load", "full", "full cpu", "sharded")
    if state == "full":
        body += "with FSDP.state_dict_type(model, StateDictType.FULL_STATE_DICT):\n    state = model.state_dict()\n    model.load_state_dict(state)\nprint(len(state))\ndel state\n"
    elif state == "full cpu":
        body += ("with FSDP.state_dict_type(model, StateDictType.FULL_STATE_DICT, FullStateDictConfig(offload_to_cpu=True, rank0_only=%s)):\n    state = model.state_dict()\nprint(len(state))\n" % r.pick("True", "False"))
    elif state == "sharded":
        body += "with FSDP.state_dict_type(model, StateDictType.SHARDED_STATE_DICT%s):\n    state = model.state_dict()\n    %s\nprint(len(state))\n" % (
            r.pick("", ", ShardedStateDictConfig(offload_to_cpu=True)"), r.pick("pass", "model.load_state_dict(state)"))
    elif state == "local":
        body += "with FSDP.state_dict_type(model, StateDictType.LOCAL_STATE_DICT):\n    state = model.state_dict()\nprint(len(state))\n"
    elif state == "optim full":
        body += "state = FSDP.full_optim_state_dict(model, optimizer, rank0_only=%s)\nprint(len(state))\n" % r.pick("True", "False")
    elif state == "optim rank0":
        body += ("FSDP.set_state_dict_type(model, StateDictType.FULL_STATE_DICT, FullStateDictConfig(offload_to_cpu=%s, rank0_only=%s), FullOptimStateDictConfig(offload_to_cpu=%s, rank0_only=%s))\n"
                 "state = model.state_dict()\nmoments = FSDP.optim_state_dict(model, optimizer)\nprint(len(state), len(moments))\n" % tuple(r.pick("True", "False") for _ in range(4)))
    elif state == "optim sharded":
        body += "with FSDP.state_dict_type(model, StateDictType.SHARDED_STATE_DICT):\n    state = FSDP.optim_state_dict(model, optimizer)\nprint(len(state))\n"
    elif state == "optim to load":
        kind = r.pick("FULL", "SHARDED")
        body += ("with FSDP.state_dict_type(model, StateDictType.%s_STATE_DICT):\n    state = FSDP.optim_state_dict(model, optimizer)\n    given = FSDP.optim_state_dict_to_load(model, optimizer, state)\n"
                 "    optimizer.load_state_dict(given)\noptimizer.step()\n" % kind)
    elif state == "summon":
        body += "with FSDP.summon_full_params(model%s):\n    print(sum(p.numel() for p in model.parameters()))\n" % r.pick("", ", writeback=False", ", rank0_only=True, writeback=False", ", recurse=False")
    return Script(head(r, imports + imported) + net.code + "\n\n" + body + END, world, "fsdp1 %s %s" % (strategy, state))


def policies(r):
    """(MixedPrecisionPolicy, OffloadPolicy) as text, or nothing"""
    mp = r.pick("", "", "param_dtype=torch.bfloat16", "param_dtype=torch.bfloat16, reduce_dtype=torch.float32", "param_dtype=torch.bfloat16, reduce_dtype=torch.bfloat16",
                "reduce_dtype=torch.bfloat16", "param_dtype=torch.float16, reduce_dtype=torch.float32, output_dtype=torch.float32", "param_dtype=torch.bfloat16, cast_forward_inputs=False" if r.chance(0.1) else "reduce_dtype=torch.float32")
    return "MixedPrecisionPolicy(%s)" % mp if mp else "", r.pick(*[""] * 6, "CPUOffloadPolicy(pin_memory=False)", "CPUOffloadPolicy()")


def fsdp2(r):
    net = models.any_net(r, norms=False)
    world = r.pick(2, 3, 4, 8)
    imports = ("from torch.distributed.device_mesh import init_device_mesh\nfrom torch.distributed.tensor import DTensor, Shard\n"
               "from torch.distributed.fsdp import CPUOffloadPolicy, MixedPrecisionPolicy, OffloadPolicy, fully_shard, register_fsdp_forward_method\n")
    options, root, body = [], [], ""
    if r.chance(0.3):
        world = r.pick(4, 8)
        two = r.chance(0.7)
        body += "mesh = init_device_mesh('cuda', %s)\n" % ("(2, world // 2), mesh_dim_names=('replicate', 'shard')" if two else "(world,)")
        options.append("mesh=mesh")
    keep = r.pick("", "", "", "True", "False", "2" if world % 2 == 0 else "True")
    mp, offload = policies(r)
    if mp:
        options.append("mp_policy=" + mp)
    if offload:
        options.append("offload_policy=" + offload)
    if r.chance(0.1):
        options.append("shard_placement_fn=lambda p: Shard(p.ndim - 1) if p.shape[-1] % world == 0 else Shard(0)")
        world = r.pick(2, 4)
        options = [o for o in options if not o.startswith("mesh")]
        keep = "" if keep.isdigit() else keep
    root = list(options)
    if keep:
        options.append("reshard_after_forward=" + keep)
        if r.chance(0.5):
            root.append("reshard_after_forward=" + keep)
    meta = r.chance(0.2)
    if meta:
        body += "with torch.device('meta'):\n    model = Net()\n"
    else:
        body += "model = Net()%s\n" % r.pick("", ".cuda()")
    more, imported = recomputed(r, net.block)
    body += more
    frozen = r.chance(0.12)
    if frozen:
        body += r.pick("for p in model.blocks[0].parameters():\n    p.requires_grad_(False)\n", "for n, p in model.named_parameters():\n    p.requires_grad_('blocks' in n)\n")
    ignored = ""
    if r.chance(0.1) and not meta:
        body += "model.scale = nn.Parameter(torch.ones(5, device='cuda'))\n"
        root.append("ignored_params={model.scale}")
    elif r.chance(0.1) and not meta:
        body += "model.never = nn.Linear(13, 7)\n" + ("model.cuda()\n" if ".cuda()" in body else "")
    shard = lambda what, opts: "fully_shard(%s)\n" % ", ".join([what, *opts])
    body += "for block in model.blocks:\n" + indent(shard("block", options))
    if r.chance(0.15) and "self.embed" in net.code and "self.head.weight" not in net.code:
        body += shard("model.embed", options)
    if r.chance(0.1) and "self.head" in net.code and "self.head.weight" not in net.code:
        body += shard("[model.norm, model.head]", options)
    body += shard("model", root)
    if meta:
        body += "model.to_empty(device=%s)\n" % ("'cpu'" if offload else "'cuda'")
        body += r.pick("", "with torch.no_grad():\n    for p in model.parameters():\n        p.normal_(std=0.02)\n", "for m in model.modules():\n    if hasattr(m, 'reset_parameters'):\n        m.reset_parameters()\n") if not offload else ""
    elif offload and ignored:
        pass
    if r.chance(0.25):
        body += "blocks = list(model.blocks)\nfor i, block in enumerate(blocks):\n"
        n = r.randint(1, 2)
        body += r.pick(f"    block.set_modules_to_forward_prefetch(blocks[i + 1:i + {1 + n}])\n", f"    block.set_modules_to_backward_prefetch(blocks[max(0, i - {n}):i][::-1])\n",
                       f"    block.set_modules_to_forward_prefetch(blocks[i + 1:i + {1 + n}])\n    block.set_modules_to_backward_prefetch(blocks[max(0, i - {n}):i][::-1])\n")
    if r.chance(0.15):
        body += r.pick("model.set_reduce_scatter_divide_factor(2.0)\n", "model.set_gradient_divide_factor(4.0)\n", "model.set_unshard_in_backward(True)\n",
                       "model.set_reshard_after_forward(False)\n", "model.set_reshard_after_forward(True, recurse=False)\n", "model.set_reshard_after_backward(False)\n",
                       "model.set_force_sum_reduction_for_comms(True)\n", "model.set_allocate_memory_from_process_group_for_comm(False)\n")
    before = r.pick("model.set_requires_gradient_sync(%(last)s)\n", "model.set_requires_gradient_sync(%(last)s)\nmodel.set_is_last_backward(%(last)s)\n", "model.set_is_last_backward(%(last)s)\n",
                    "model.set_requires_gradient_sync(%(last)s)\nmodel.set_reshard_after_backward(%(last)s)\n", "model.set_requires_all_reduce(%(last)s)\n" if "(2, world" in body else "model.set_requires_gradient_sync(%(last)s)\n")
    text = loop(r, net, sync=(before, None), autocast=False if mp else None, after=r.pick(*[""] * 4, "torch.cuda.synchronize()\n"), clip=not offload,
                params=r.pick("model.parameters()", "[p for p in model.parameters() if p.requires_grad]") if "ignored_params" not in str(root) else "[p for n, p in model.named_parameters() if n != 'scale']",
                clips="%storch.nn.utils.clip_grad_norm_(%s, 1.0)%s" % (r.pick(("", "[p for n, p in model.named_parameters() if n != 'scale']", ""), ("norm = ", "[p for n, p in model.named_parameters() if n != 'scale']", "")) if "ignored_params" in str(root) else
                                                                       r.pick(("", "model.parameters()", ""), ("norm = ", "model.parameters()", ".full_tensor()") if not offload else ("", "model.parameters()", ""), ("", "model.parameters()", ""))),
                plain=bool(offload))
    if r.chance(0.15):
        text = text.replace("    x = torch", r.pick("    handle = model.unshard(async_op=True)\n    x = torch", "    model.unshard()\n    x = torch"), 1) if "micro" not in text else text
    body += text
    state = r.pick(*[""] * 5, "full", "full cpu", "sharded", "sharded cpu", "load", "reshard", "optim", "plain", "optim load", "broadcast")
    asked = "from torch.distributed.checkpoint.state_dict import (StateDictOptions, get_model_state_dict, get_optimizer_state_dict, get_state_dict, set_model_state_dict,\n    set_optimizer_state_dict, set_state_dict)\n"
    if "ignored_params" in str(root) and state not in ("", "plain", "reshard"):
        state = ""
    if state in ("full", "full cpu", "sharded", "sharded cpu"):
        body += f"options = StateDictOptions(full_state_dict={state.startswith('full')}, cpu_offload={'cpu' in state})\nstate = get_model_state_dict(model, options=options)\nprint(len(state))\n"
        if r.chance(0.5) and not frozen:
            body += "moments = get_optimizer_state_dict(model, optimizer, options=options)\ndel moments\n"
    elif state == "load":
        body += "options = StateDictOptions(full_state_dict=True)\nstate = get_model_state_dict(model, options=options)\nset_model_state_dict(model, state, options=options)\ndel state\n"
    elif state == "broadcast":
        body += ("options = StateDictOptions(full_state_dict=True, cpu_offload=True)\nstate = get_model_state_dict(model, options=options)\n"
                 "set_model_state_dict(model, state, options=StateDictOptions(full_state_dict=True, broadcast_from_rank0=True))\ndel state\n")
    elif state == "optim":
        body += "model_state, optim_state = get_state_dict(model, optimizer%s)\nset_state_dict(model, optimizer, model_state_dict=model_state, optim_state_dict=optim_state)\n" % ""
    elif state == "optim load":
        body += ("options = StateDictOptions(full_state_dict=True)\nstate = get_optimizer_state_dict(model, optimizer, options=options)\n"
                 "set_optimizer_state_dict(model, optimizer, state, options=options)\ndel state\n")
    elif state == "plain":
        body += "state = {k: %s for k, v in model.state_dict().items()}\nprint(len(state))\n" % r.pick("v.full_tensor() if isinstance(v, DTensor) else v", "v.full_tensor().cpu() if isinstance(v, DTensor) else v.cpu()" if not offload else "v", "v.to_local() if isinstance(v, DTensor) else v")
    elif state == "reshard":
        body += "handle = model.unshard(async_op=True)\nhandle.wait()\nmodel.reshard()\n"
    return Script(head(r, imports + imported + (asked if state not in ("", "plain", "reshard") else "")) + net.code + "\n\n" + body + END, world, "fsdp2 %s%s" % (state, " offload" if offload else ""))
