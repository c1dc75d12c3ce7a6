"""Programs of many ranks whose parts are written one by one: tensor and context parallel, pipelines, experts, DTensors, collectives."""

from . import rank_models as models
from .rand import indent
from .rank_programs import END, Script, head, loop

TP = ("from torch.distributed.device_mesh import init_device_mesh\nfrom torch.distributed.tensor import DTensor, Replicate, Shard, distribute_tensor, distribute_module\n"
      "from torch.distributed.tensor.parallel import (ColwiseParallel, PrepareModuleInput, PrepareModuleInputOutput, PrepareModuleOutput, RowwiseParallel, SequenceParallel,\n"
      "                                               loss_parallel, parallelize_module)\n"
      "from torch.distributed.fsdp import CPUOffloadPolicy, MixedPrecisionPolicy, fully_shard\n")


def tensor_parallel(r):
    """a decoder whose layers are split, alone or under fully_shard"""
    bias, norm = r.chance(0.4), r.pick("nn.LayerNorm", "nn.RMSNorm")
    world = r.pick(2, 4)
    two = r.chance(0.4)
    mesh = "tp"
    h = 4 * r.pick(1, 2)
    d, vocab, batch, length, layers = h * r.pick(16, 32), 4 * r.pick(250, 300, 512), r.pick(2, 4), r.pick(32, 64, 128), r.randint(1, 3)
    f = r.pick(2, 3, 4) * d
    b = "" if bias else ", bias=False"
    gated = r.chance(0.5)
    act = r.pick("F.gelu", "F.silu", "F.relu")
    sequence, parallel_loss = r.chance(0.5), r.chance(0.4)
    rope = r.chance(0.3)
    qkv = "self.q(x), self.k(x), self.v(x)"
    code = f"""
class Attention(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(d, d{b}) for _ in range(4))

    def forward(self, x{", cos, sin" if rope else ""}):
        b, t, _ = x.shape
        q, k, v = (z.view(b, t, -1, {d // h}).transpose(1, 2) for z in ({qkv}))
{"        q, k = turned(q, cos, sin), turned(k, cos, sin)" + chr(10) if rope else ""}        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o(y.transpose(1, 2).{r.pick("reshape", "contiguous().view")}(b, t, -1))


class MLP(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.up, self.down = nn.Linear(d, {f}{b}), nn.Linear({f}, d{b})
{f"        self.gate = nn.Linear(d, {f}{b})" + chr(10) if gated else ""}
    def forward(self, x):
        return self.down({f"{act}(self.gate(x)) * self.up(x)" if gated else f"{act}(self.up(x))"})


class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.ln1, self.ln2, self.attn, self.mlp = {norm}(d), {norm}(d), Attention(d), MLP(d)
        self.drop = nn.Dropout({r.pick("0.0", "0.0", "0.1") if not sequence else "0.0"})

    def forward(self, x{", cos, sin" if rope else ""}):
        x = x + {r.pick("", "self.drop") if not sequence else ""}(self.attn(self.ln1(x){", cos, sin" if rope else ""}))
        return x + self.mlp(self.ln2(x))


class Net(nn.Module):
    def __init__(self, d={d}, vocab={vocab}):
        super().__init__()
        self.embed, self.blocks, self.norm, self.head = nn.Embedding(vocab, d), nn.ModuleList(Block(d) for _ in range({layers})), {norm}(d), nn.Linear(d, vocab, bias=False)
{"        self.register_buffer('cos', torch.ones(" + f"{length}, {d // h // 2}" + "), persistent=False)" + chr(10) if rope else ""}
    def forward(self, x):
        x = self.embed(x)
        for block in self.blocks:
            x = block(x{", self.cos, self.cos" if rope else ""})
        return self.head(self.norm(x))
"""
    if rope:
        code = """
def turned(x, cos, sin):
    a, b = x.chunk(2, dim=-1)
    return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)

""" + code
    names = ["up", "gate"] if gated else ["up"]
    local = "use_local_output=%s" % (not parallel_loss)
    if sequence:
        top = {"embed": "RowwiseParallel(input_layouts=Replicate(), output_layouts=Shard(1))", "norm": "SequenceParallel()",
               "head": f"ColwiseParallel(input_layouts=Shard(1), output_layouts={'Shard(-1)' if parallel_loss else 'Replicate()'}, {local})"}
        one = "PrepareModuleInput(input_layouts=(Shard(1),%s), desired_input_layouts=(Replicate(),%s))" 
        plan = {"ln1": "SequenceParallel()", "ln2": "SequenceParallel()", "attn": one % ((" None, None", " None, None") if rope else ("", "")), "mlp": one % ("", ""), "attn.o": "RowwiseParallel(output_layouts=Shard(1))", "mlp.down": "RowwiseParallel(output_layouts=Shard(1))"}
    else:
        top = {}
        if r.chance(0.6):
            top["embed"] = r.pick("RowwiseParallel(input_layouts=Replicate())", "ColwiseParallel(output_layouts=Replicate())", "RowwiseParallel(input_layouts=Replicate(), output_layouts=Replicate())")
        if parallel_loss:
            top["head"] = f"ColwiseParallel(input_layouts=Replicate(), output_layouts=Shard(-1), {local})"
        elif r.chance(0.6):
            top["head"] = "ColwiseParallel(output_layouts=Replicate())"
        plan = {"attn.o": "RowwiseParallel()", "mlp.down": "RowwiseParallel()"}
    for name in ("attn.q", "attn.k", "attn.v", *["mlp." + n for n in names]):
        plan[name] = "ColwiseParallel()"
    shown = lambda p: "{%s}" % ", ".join(f'"{k}": {v}' for k, v in p.items())
    body = ""
    if two:
        world = r.pick(4, 8)
        body += "mesh = init_device_mesh('cuda', (world // 2, 2), mesh_dim_names=('dp', 'tp'))\ntp, dp = mesh['tp'], mesh['dp']\n"
    else:
        body += "tp = init_device_mesh('cuda', (world,)%s)\n" % r.pick("", ", mesh_dim_names=('tp',)")
    meta = r.chance(0.3)
    body += "with torch.device('meta'):\n    model = Net()\n" if meta else "model = Net()%s\n" % r.pick(".cuda()", ".cuda()", "") 
    on_host = "Net()\n" in body and not meta
    if top:
        body += f"parallelize_module(model, tp, {shown(top)})\n"
    body += f"for block in model.blocks:\n    parallelize_module(block, tp, {shown(plan)})\n"
    options = ["mesh=dp"]
    mixed = False
    if two:
        if r.chance(0.5):
            mixed = True
            options.append("mp_policy=MixedPrecisionPolicy(%s)" % r.pick("param_dtype=torch.bfloat16", "param_dtype=torch.bfloat16, reduce_dtype=torch.float32"))
        if r.chance(0.3):
            options.append("reshard_after_forward=%s" % r.pick("False", "True"))
        body += "for block in model.blocks:\n    fully_shard(block, %s)\nfully_shard(model, %s)\n" % (", ".join(options), ", ".join(options))
    if meta:
        body += "model.to_empty(device='cuda')\nwith torch.no_grad():\n    for p in model.parameters():\n        %s\n" % r.pick("p.normal_(std=0.02)", "p.fill_(0.01)", "nn.init.normal_(p, std=0.02)", "p.uniform_(-0.1, 0.1)")
    elif on_host:
        body += "model.cuda()\n"
    x = f"torch.randint(0, {vocab}, ({batch}, {length}), device='cuda')"
    net = models.Net(code, x, "F.cross_entropy(out.flatten(0, 1)%s, x.flatten())" % r.pick("", ".float()"), width=d)
    # What is split and what is not go to optimizers of their own: foreach kernels take no mixture.
    mixture = len(top) < 3 or not sequence
    text = loop(r, net, plain=True, autocast=False, evaluates=not parallel_loss, clip=not mixture, params="model.parameters()")
    if mixture:
        text = text.replace("(model.parameters(), lr", "(model.parameters(), foreach=False, lr" if "foreach" not in text and "fused" not in text else "(model.parameters(), lr").replace("fused=True", "foreach=False")
    if parallel_loss:
        start = text.index("    out = model(x)") if "    out = model(x)" in text else text.index("    loss = ")
        end = text.index("loss.backward()\n") + len("loss.backward()\n")
        text = text[:start] + "    with loss_parallel():\n" + indent(text[start:end]) + text[end:]
    return Script(head(r, TP) + net.code + "\n\n" + body + text + END, world, "tp" + (" 2d" if two else "") + (" sp" if sequence else "") + (" loss" if parallel_loss else ""))


def pipeline(r):
    world, micros = r.pick(2, 3, 4), 0
    kind = r.pick("GPipe", "1F1B", "Interleaved1F1B", "LoopedBFS", "InterleavedZeroBubble", "ZBVZeroBubble", "DualPipeV", "GPipe", "1F1B", "Interleaved1F1B")
    several = kind not in ("GPipe", "1F1B")
    per = 2 if kind in ("ZBVZeroBubble", "DualPipeV") else r.pick(2, 2, 3) if several else 1
    micros = world * r.pick(1, 2) if several else r.randint(world, 2 * world + 1)
    if kind == "DualPipeV":
        micros = 2 * world * r.pick(1, 2)
    rows, length, vocab = r.pick(1, 2, 3), r.pick(16, 32, 64), r.pick(500, 1000)
    net = models.transformer(r, small=True, plain=True, recompute=False)
    d, vocab = net.width, net.vocab
    code = net.code[:net.code.index("class Net")]
    code = code.replace("import torch.utils.checkpoint\n", "")
    h = 4 if d % 4 == 0 else 2
    drop = r.pick("", "", ".to(torch.bfloat16)")
    here = "[rank, 2 * world - 1 - rank]" if kind in ("ZBVZeroBubble", "DualPipeV") else "[rank + world * i for i in range(%d)]" % per
    half = drop != ""
    dtype = ", dtype=torch.bfloat16" if half else ""
    body = f"""
class First(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding({vocab}, {d})

    def forward(self, x):
        return self.embed(x)


class Last(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.head = nn.LayerNorm({d}), nn.Linear({d}, {vocab})

    def forward(self, x):
        return self.head(self.norm(x))


micros, rows, length, count = {micros}, {rows}, {length}, {per} * world


def build(stage):
    parts = [Block({d}, {h}, {2 * d}) for _ in range({r.randint(1, 2)})]
    return nn.Sequential(*([First()] if stage == 0 else []), *parts, *([Last()] if stage == count - 1 else [])).cuda(){drop}


def given(stage):
    if stage == 0:
        return torch.zeros(rows, length, dtype=torch.long, device="meta")
    return torch.zeros(rows, length, {d}, device="meta"{dtype})


def made(stage):
    return torch.zeros(rows, length, {vocab} if stage == count - 1 else {d}, device="meta"{dtype})


def loss_fn(out, target):
    return F.cross_entropy(out{".float()" if half else ""}.flatten(0, 1), target.flatten())


"""
    wrap = r.pick("", "", "fully_shard", "DDP") if world == 2 and kind in ("GPipe", "1F1B", "Interleaved1F1B", "LoopedBFS") else ""
    imports = "from torch.distributed.pipelining import PipelineStage, Schedule%s\n" % kind
    group = ""
    if wrap:
        imports += "from torch.distributed.device_mesh import init_device_mesh\n"
        body += "mesh = init_device_mesh('cuda', (2, 2), mesh_dim_names=('pp', 'dp'))\n"
        body = body.replace("%d * world\n" % per, "%d * 2\n" % per, 1)
        here = here.replace("world", "2").replace("rank", "pp_rank")
        body += "pp_rank = mesh['pp'].get_local_rank()\n"
        group = ", group=mesh.get_group('pp')"
        if wrap == "fully_shard":
            imports += "from torch.distributed.fsdp import fully_shard, MixedPrecisionPolicy\n"
        else:
            imports += "from torch.nn.parallel import DistributedDataParallel as DDP\n"
    body += f"stages = []\nfor i in {here}:\n    part = build(i)\n"
    if wrap == "fully_shard":
        body += "    for each in part:\n        fully_shard(each, mesh=mesh['dp'])\n    fully_shard(part, mesh=mesh['dp'])\n"
    elif wrap == "DDP":
        body += "    part = DDP(part, process_group=mesh.get_group('dp'))\n"
    body += f"    stages.append(PipelineStage(part, i, count, torch.device('cuda', device), input_args=(given(i),), output_args=(made(i),){group}))\n"
    merges = r.pick("", "", ", scale_grads=False")
    body += f"schedule = Schedule{kind}({'stages' if several else 'stages[0]'}, n_microbatches=micros, loss_fn=loss_fn{merges})\n"
    body += "optimizer = %s\n" % models.optimizer(r, "[p for s in stages for p in s.submod.parameters()]")
    first, last = "any(s.is_first for s in stages)", "any(s.is_last for s in stages)"
    returns = r.pick("", "", ", return_outputs=False")
    step = f"""x = torch.randint(0, {vocab}, (rows * micros, length), device="cuda")
losses = []
if {first} and {last}:
    schedule.step(x, target=x, losses=losses{returns})
elif {first}:
    schedule.step(x{returns})
elif {last}:
    {r.pick("schedule.step(target=x, losses=losses%s)", "out = schedule.step(target=x, losses=losses%s)") % returns}
else:
    schedule.step({returns[2:]})
"""
    if r.chance(0.3) and not wrap:
        step += "torch.nn.utils.clip_grad_norm_([p for s in stages for p in s.submod.parameters()], 1.0)\n"
    step += "optimizer.step()\noptimizer.zero_grad()\n"
    body += f"for step in range({r.randint(2, 3)}):\n" + indent(step)
    if r.chance(0.2):
        body += f"x = torch.randint(0, {vocab}, (rows * micros, length), device='cuda')\nwith torch.no_grad():\n    schedule.eval(*([x] if {first} else []), **(dict(target=x, losses=[]) if {last} else {{}}))\n"
    return Script(head(r, imports) + code + body + END, 4 if wrap else world, "pipeline %s %s" % (kind, wrap), settle=wrap == "DDP")


def context(r):
    world = r.pick(2, 3, 4)
    h, dh, layers = r.pick(2, 4), r.pick(32, 64), r.randint(1, 3)
    d, vocab, batch, length = h * dh, r.pick(500, 1000), r.pick(1, 2), 2 * world * r.pick(16, 32, 64)
    kernel = r.pick("FLASH_ATTENTION", "FLASH_ATTENTION", "FLASH_ATTENTION", "FLASH_ATTENTION", "EFFICIENT_ATTENTION")
    causal = r.chance(0.9)
    code = f"""
class Block(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.h, self.ln1, self.ln2 = h, nn.LayerNorm(d), nn.LayerNorm(d)
        self.qkv, self.o, self.up, self.down = nn.Linear(d, 3 * d), nn.Linear(d, d), nn.Linear(d, 4 * d), nn.Linear(4 * d, d)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = (z.view(b, t, self.h, -1).transpose(1, 2) for z in self.qkv(self.ln1(x)).split(c, dim=2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal={causal})
        x = x + self.o(y.transpose(1, 2).reshape(b, t, c))
        return x + self.down(F.gelu(self.up(self.ln2(x))))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.place = nn.Embedding({vocab}, {d}), nn.Embedding({length}, {d})
        self.blocks = nn.ModuleList(Block({d}, {h}) for _ in range({layers}))
        self.head = nn.Linear({d}, {vocab})

    def forward(self, x{r.pick(", place", "")}):
        x = self.embed(x) + self.place(place)
        for block in self.blocks:
            x = block(x)
        return self.head(x)
"""
    placed = ", place):" in code
    if not placed:
        code = code.replace("self.place(place)", "self.place(torch.arange(x.shape[1], device=x.device))")
    imports = ("from torch.distributed.device_mesh import init_device_mesh\nfrom torch.distributed.tensor.experimental import context_parallel\n"
               "from torch.nn.attention import SDPBackend, sdpa_kernel\n")
    wrap = r.pick("", "fully_shard", "")
    body = f"mesh = init_device_mesh('cuda', (world,), mesh_dim_names=('cp',))\nmodel = Net().cuda(){r.pick('.bfloat16()', '.half()') if kernel[0] == 'F' else r.pick('', '.bfloat16()')}\n"
    if r.chance(0.3):
        imports += "from torch.distributed.tensor.experimental._attention import set_rotate_method\n"
        body += "set_rotate_method('%s')\n" % r.pick("alltoall", "allgather")
    if wrap:
        imports += "from torch.distributed.fsdp import fully_shard\n"
        body += "for block in model.blocks:\n    fully_shard(block, mesh=mesh)\nfully_shard(model, mesh=mesh)\n"
    buffers = ["x", "y"] + (["place"] if placed else [])
    body += "optimizer = %s\n" % models.optimizer(r)
    kept = r.pick(f"no_restore_buffers={{{', '.join(buffers)}}}", "no_restore_buffers={x, y}", "")
    step = f"x, y = torch.randint(0, {vocab}, ({batch}, {length}), device='cuda'), torch.randint(0, {vocab}, ({batch}, {length}), device='cuda')\n"
    if placed:
        step += f"place = torch.arange({length}, device='cuda').unsqueeze(0)\n"
    step += f"with sdpa_kernel([SDPBackend.{kernel}]):\n    with context_parallel(mesh, buffers=[{', '.join(buffers)}], buffer_seq_dims=[{', '.join('1' for _ in buffers)}]{', ' + kept if kept else ''}):\n"
    step += f"        loss = F.cross_entropy(model(x{', place' if placed else ''}).flatten(0, 1).float(), y.flatten())\n        loss.backward()\n"
    if not wrap:
        step += "for p in model.parameters():\n    dist.all_reduce(p.grad, op=dist.ReduceOp.AVG)\n"
    step += "optimizer.step()\noptimizer.zero_grad()\n"
    body += f"for step in range({r.randint(1, 3)}):\n" + indent(step)
    return Script(head(r, imports) + code + "\n\n" + body + END, world, "context " + kernel)


def experts(r):
    world = r.pick(2, 4)
    d, f, layers, vocab, batch, length = r.pick(64, 128, 192), r.pick(128, 256), r.randint(1, 3), r.pick(500, 1000), r.pick(2, 4), r.pick(32, 64)
    local, k = r.pick(1, 2), r.pick(1, 2)
    how = r.pick("dist.nn", "funcol", "manual")
    imports = "from torch.distributed.nn.functional import all_to_all_single\nimport torch.distributed._functional_collectives as funcol\n"
    capacity = r.chance(0.5)
    send = {"dist.nn": "all_to_all_single(torch.empty_like(t), t)", "funcol": "funcol.all_to_all_single_autograd(t, None, None, dist.group.WORLD)" + r.pick("", ".clone()"), "manual": "Exchange.apply(t)"}[how]
    route = f"""        weight, index = self.gate(x).{r.pick("softmax(-1)", "float().softmax(-1)", "sigmoid()")}.topk({k}, dim=-1)
        order = index.flatten().argsort(stable=True)
        sent = x[torch.div(order, {k}, rounding_mode="floor")]
        got = exchange(sent)
        h = got.view(self.local, -1, got.shape[-1])
        h = torch.bmm({r.pick("F.gelu", "F.silu")}(torch.bmm(h, self.up)), self.down).reshape(got.shape)
        back = exchange(h)
        out = torch.zeros_like(x).index_add(0, torch.div(order, {k}, rounding_mode="floor"), back * weight.flatten()[order].unsqueeze(1))
"""
    if capacity:
        route = f"""        scores = self.gate(x).softmax(-1)
        weight, index = scores.topk({k}, dim=-1)
        slots = x.shape[0] * {k} // self.count
        mask = F.one_hot(index, self.count).float()
        place = (mask.flatten(0, 1).cumsum(0) - 1).view_as(mask)
        keep = mask * (place < slots)
        sent_to = F.one_hot(place.long().clamp(0, slots - 1), slots).float() * keep.unsqueeze(-1)
        combine = (sent_to * weight[..., None, None]).sum(1)
        sent = torch.einsum("nec,nd->ecd", sent_to.sum(1), x)
        got = exchange(sent.flatten(0, 1))
        h = got.view(self.local, -1, x.shape[-1])
        h = torch.bmm(F.gelu(torch.bmm(h, self.up)), self.down)
        back = exchange(h.reshape(-1, x.shape[-1]))
        out = torch.einsum("nec,ecd->nd", combine, back.view(self.count, slots, -1))
"""
    code = f"""
class Exchange(torch.autograd.Function):
    @staticmethod
    def forward(ctx, t):
        out = torch.empty_like(t)
        dist.all_to_all_single(out, t.contiguous())
        return out

    @staticmethod
    def backward(ctx, g):
        out = torch.empty_like(g)
        dist.all_to_all_single(out, g.contiguous())
        return out


def exchange(t):
    return {send}


class Experts(nn.Module):
    def __init__(self, d, count, f):
        super().__init__()
        self.local, self.count = count // world, count
        self.gate = nn.Linear(d, count, bias=False)
        self.up, self.down = nn.Parameter(torch.randn(self.local, d, f) * 0.02), nn.Parameter(torch.randn(self.local, f, d) * 0.02)

    def forward(self, x):
        shape, x = x.shape, x.reshape(-1, x.shape[-1])
{route}        return out.view(shape)


class Net(nn.Module):
    def __init__(self, d={d}):
        super().__init__()
        self.embed, self.norms = nn.Embedding({vocab}, d), nn.ModuleList(nn.LayerNorm(d) for _ in range({layers}))
        self.moes, self.head = nn.ModuleList(Experts(d, {local} * world, {f}) for _ in range({layers})), nn.Linear(d, {vocab})

    def forward(self, x):
        x = self.embed(x)
        for norm, moe in zip(self.norms, self.moes):
            x = x + moe(norm(x))
        return self.head(x)


model = Net().cuda()
shared = [p for n, p in model.named_parameters() if not n.endswith(("up", "down"))]
"""
    net = models.Net("", f"torch.randint(0, {vocab}, ({batch}, {length}), device='cuda')", "F.cross_entropy(out.flatten(0, 1), x.flatten())")
    text = loop(r, net, autocast=r.chance(0.2), clip=False)
    reduce = r.pick("    for p in shared:\n        dist.all_reduce(p.grad, op=dist.ReduceOp.AVG)\n",
                    "    flat = torch.cat([p.grad.flatten() for p in shared])\n    dist.all_reduce(flat)\n    for p, g in zip(shared, flat.split([p.numel() for p in shared])):\n        p.grad.copy_(g.view_as(p) / world)\n",
                    "    works = [dist.all_reduce(p.grad, async_op=True) for p in shared]\n    for w in works:\n        w.wait()\n    for p in shared:\n        p.grad /= world\n",
                    "    with dist._coalescing_manager():\n        for p in shared:\n            dist.all_reduce(p.grad)\n",
                    "    grads = [p.grad for p in shared]\n    flat = torch._utils._flatten_dense_tensors(grads)\n    dist.all_reduce(flat)\n    flat /= world\n    for g, new in zip(grads, torch._utils._unflatten_dense_tensors(flat, grads)):\n        g.copy_(new)\n")
    text = text.replace("    optimizer.step()\n", reduce + "    optimizer.step()\n", 1)
    return Script(head(r, imports) + code + text + END, world, "experts " + how)


def megatron(r):
    """layers split by hand, with functions of their own"""
    world = r.pick(2, 4)
    h = 4 * r.pick(1, 2)
    d, vocab, batch, length, layers = h * r.pick(16, 32), r.pick(512, 1000), r.pick(2, 4), world * r.pick(16, 32), r.randint(1, 3)
    sequence = r.chance(0.5)
    how = r.pick("new_group", "mesh", "world")
    group = {"new_group": "dist.new_group(list(range(world)))", "mesh": "init_device_mesh('cuda', (world,)).get_group()", "world": "None"}[how]
    imports = "from torch.distributed.device_mesh import init_device_mesh\n"
    if sequence:
        pairs = """
def gathered(x):
    out = torch.empty(x.shape[0] * world, *x.shape[1:], device=x.device, dtype=x.dtype)
    dist.all_gather_into_tensor(out, x.contiguous(), group=group)
    return out


def scattered(x):
    out = torch.empty(x.shape[0] // world, *x.shape[1:], device=x.device, dtype=x.dtype)
    dist.reduce_scatter_tensor(out, x.contiguous(), group=group)
    return out


class Enter(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return gathered(x)

    @staticmethod
    def backward(ctx, g):
        return scattered(g)


class Leave(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return scattered(x)

    @staticmethod
    def backward(ctx, g):
        return gathered(g)
"""
        rows = length // world
    else:
        copied = r.pick("x", "x.view_as(x)")
        pairs = f"""
class Enter(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return {copied}

    @staticmethod
    def backward(ctx, g):
        {r.pick("g = g.clone()" + chr(10) + "        dist.all_reduce(g, group=group)", "dist.all_reduce(g, group=group)", "work = dist.all_reduce(g, group=group, async_op=True)" + chr(10) + "        work.wait()")}
        return g


class Leave(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        {r.pick("x = x.clone()" + chr(10) + "        ", "")}dist.all_reduce(x, group=group)
        return x

    @staticmethod
    def backward(ctx, g):
        return g
"""
        rows = length
    code = f"""
group = {group}

{pairs}

class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.qkv, self.o = nn.Linear(d, 3 * d // world), nn.Linear(d // world, d, bias=False)
        self.up, self.down = nn.Linear(d, 4 * d // world), nn.Linear(4 * d // world, d, bias=False)
        self.bias = nn.Parameter(torch.zeros(d))

    def forward(self, x):
        y = Enter.apply(self.ln1(x))
        t, b, c = y.shape
        q, k, v = (z.reshape(t, b * {h} // world, -1).transpose(0, 1) for z in self.qkv(y).chunk(3, dim=-1))
        w = torch.baddbmm(torch.empty(b * {h} // world, t, t, device=x.device, dtype=q.dtype), q, k.transpose(1, 2), beta=0.0, alpha=0.1)
        y = torch.bmm(F.dropout(w.softmax(-1), {r.pick("0.0", "0.1")}, self.training), v).transpose(0, 1).reshape(t, b, -1)
        x = x + Leave.apply(self.o(y))
        return x + Leave.apply(self.down(F.gelu(self.up(Enter.apply(self.ln2(x)))))) + self.bias


class Net(nn.Module):
    def __init__(self, d={d}):
        super().__init__()
        self.inp, self.blocks, self.norm = nn.Linear(40, d), nn.ModuleList(Block(d) for _ in range({layers})), nn.LayerNorm(d)
        self.head = nn.Linear(d, {vocab} // world)

    def forward(self, x):
        x = self.inp(x)
        for block in self.blocks:
            x = block(x)
        return self.head({"Enter.apply(self.norm(x))" if sequence else "Enter.apply(self.norm(x))"})


def parted_loss(logits, target):
    top = logits.detach().max(dim=-1)[0]
    dist.all_reduce(top, op=dist.ReduceOp.MAX, group=group)
    logits = logits - top.unsqueeze(-1)
    first = rank * logits.shape[-1]
    outside = (target < first) | (target >= first + logits.shape[-1])
    local = (target - first).masked_fill(outside, 0)
    picked = logits.view(-1, logits.shape[-1])[torch.arange(local.numel(), device=local.device), local.view(-1)].view_as(local).masked_fill(outside, 0.0)
    picked = Leave0.apply(picked)
    total = Leave0.apply(logits.exp().sum(dim=-1))
    return (total.log() - picked).mean()


class Leave0(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x = x.clone()
        dist.all_reduce(x, group=group)
        return x

    @staticmethod
    def backward(ctx, g):
        return g


model = Net().cuda()
"""
    net = models.Net("", f"torch.randn({rows}, {batch}, 40, device='cuda')", r.pick("out.float().square().mean()", f"parted_loss(out, torch.zeros({length}, {batch}, dtype=torch.long, device='cuda'))"))
    text = loop(r, net, evaluates=False)
    return Script(head(r, imports) + code + text + END, world, "megatron" + (" sp" if sequence else ""))
