"""Programs of many ranks that call collectives and move DTensors, one after another."""

from .rand import indent
from .rank_programs import END, Script, head


def group_of(r, world):
    """lines that make groups, and expressions of groups that this rank is in with their sizes"""
    lines, groups = "", [("None", "world", "0")]
    if r.chance(0.4):
        lines += "evens, odds = dist.new_group(list(range(0, world, 2))), dist.new_group(list(range(1, world, 2)))\nmine = evens if rank % 2 == 0 else odds\n"
        groups.append(("mine", "world // 2", "rank % 2"))
    if r.chance(0.3):
        lines += "pair, _ = dist.new_subgroups(2)\n"
        groups.append(("pair", "2", "rank // 2 * 2"))
    if r.chance(0.3):
        lines += "mesh = init_device_mesh('cuda', (2, world // 2), mesh_dim_names=('a', 'b'))\n"
        groups.append(("mesh.get_group('b')", "world // 2", "rank // (world // 2) * (world // 2)"))
    return lines, groups


def collective(r, groups, i):
    g, n, root = r.pick(*groups)
    size = r.pick(1, 7, 1000, 4096, 100000, 1500001)
    shape = r.pick(str(size), "%d, 3" % max(1, size // 3), str(size))
    dtype = r.pick("torch.float32", "torch.float32", "torch.bfloat16", "torch.int64", "torch.float16", "torch.uint8")
    make = "torch.%s(%%s, device='cuda', dtype=%s)" % (r.pick("zeros", "ones", "empty"), dtype)
    x = make % shape
    group = "" if g == "None" else ", group=" + g
    wait = r.pick("", "", "async")
    many = "%s * %s" % (n, shape)
    call, before = r.pick(
        ("all_reduce(a%s)", f"a = {x}\n"), ("all_reduce(a, op=dist.ReduceOp.MAX%s)", f"a = {x}\n"), ("all_reduce(a.view(-1)[:3]%s)", f"a = {make % '8'}\n"),
        (f"reduce(a, dst={root}%s)", f"a = {x}\n"), (f"broadcast(a, src={root}%s)", f"a = {x}\n"),
        ("all_gather(parts, a%s)", f"a = {x}\nparts = [torch.empty_like(a) for _ in range({n})]\n"),
        ("all_gather_into_tensor(whole, a%s)", f"a = {x}\nwhole = {make % many}\n"),
        ("all_gather_into_tensor(whole, a%s)", f"a = {x}\nwhole = {make % (n + ', ' + shape)}\n"),
        ("reduce_scatter(a, parts%s)", f"a = {x}\nparts = [torch.zeros_like(a) for _ in range({n})]\n"),
        ("reduce_scatter_tensor(a, whole%s)", f"a = {x}\nwhole = {make % many}\n"),
        ("all_to_all(parts, given%s)", f"given = [{x} for _ in range({n})]\nparts = [torch.empty_like(g) for g in given]\n"),
        ("all_to_all_single(b, a%s)", f"a = {make % many}\nb = torch.empty_like(a)\n"),
        (f"all_to_all_single(b, a, [100 * (dist.get_rank({g}) + 1)] * ({n}), [100 * (i + 1) for i in range({n})]%s)",
         f"a = {make % f'sum(100 * (i + 1) for i in range({n}))'}\nb = {make % f'100 * (dist.get_rank({g}) + 1) * {n}'}\n"),
        (f"gather(a, parts, dst={root}%s)", f"a = {x}\nparts = [torch.empty_like(a) for _ in range({n})] if rank == {root} else None\n"),
        (f"scatter(a, parts, src={root}%s)", f"a = {x}\nparts = [torch.empty_like(a) for _ in range({n})] if rank == {root} else None\n"),
        (f"all_gather(parts, a%s)", f"a = {make % f'50 + dist.get_rank({g})'}\nparts = [{make % '50 + i'} for i in range({n})]\n"),
        (f"reduce_scatter(a, parts%s)", f"a = {make % f'50 + dist.get_rank({g})'}\nparts = [{make % '50 + i'} for i in range({n})]\n"),
        ("barrier(%s)", ""), ("all_reduce(a.t().contiguous()%s)", f"a = {make % '60, 20'}\n"),
        ("all_reduce(b%s)", f"a, b = {x}, {x}\n"))
    call = "dist." + call.replace("%s", group if "(%s)" not in call else group[2:])
    if wait == "async":
        call = call[:-1] + (", " if call[-2] != "(" else "") + "async_op=True)"
        between = r.pick("", f"c = {make % '5000'}\n", "c = torch.mm(torch.ones(100, 200, device='cuda'), torch.ones(200, 300, device='cuda'))\n", "works.append(w)\n")
        out = before + "w = " + call + "\n" + between
        out += r.pick("w.wait()\n", "w.wait()\ndel w\n", "w.get_future().wait()\nw.wait()\ndel w\n", "works.append(w)\n", "mean = w.get_future().then(lambda f: 1).wait()\nw.wait()\n") if "works" not in between else ""
    else:
        out = before + call + "\n"
    if r.chance(0.4):
        out += "a = b = c = parts = whole = given = None\n"
    return out


def other_call(r, world, groups):
    n = r.pick(1000, 40000, 500001)
    p2p = ("halo, other, z = torch.empty(%d, device='cuda'), torch.empty(%d, device='cuda'), torch.ones(%d, device='cuda')\n" % (n, n, n))
    choices = [
        p2p + "if rank % 2 == 0:\n    dist.send(z, dst=(rank + 1) % world)\nelse:\n    dist.recv(halo, src=rank - 1)\n",
        p2p + "w = dist.isend(z, (rank + 1) % world) if rank % 2 == 0 else dist.irecv(halo, rank - 1)\n" + r.pick("", "z = None\n", "c = halo * 2\n") + "w.wait()\n",
        p2p + "ops = [dist.P2POp(dist.isend, z, (rank + 1) % world), dist.P2POp(dist.irecv, halo, (rank - 1) % world)]\n"
        + r.pick("", "ops += [dist.P2POp(dist.isend, z[:100].contiguous(), (rank - 1) % world), dist.P2POp(dist.irecv, other[:100], (rank + 1) % world)]\n")
        + "reqs = dist.batch_isend_irecv(ops)\n" + r.pick("", "ops = None\n", "c = z * 2\n") + "for req in reqs:\n    req.wait()\n" + r.pick("", "ops = reqs = req = None\n"),
        "with dist._coalescing_manager(%s) as manager:\n    for p in [torch.ones(i, device='cuda') for i in (10, 1000, 70000)]:\n        dist.all_reduce(p)\n%s" % r.pick(("", ""), ("async_ops=True", "manager.wait()\nmanager = p = None\n")),
        "with dist._coalescing_manager(%s) as manager:\n    for i in (10, 3000):\n        dist.all_gather_into_tensor(torch.empty(world * i, device='cuda'), torch.ones(i, device='cuda'))\n%s" % r.pick(("", ""), ("async_ops=True", "manager.wait()\n")),
        "metrics = {'rank': 0, 'loss': [0.5] * %d, 'name': 'a' * %d}\neverything = [None] * world\ndist.all_gather_object(everything, metrics)\n" % (r.pick(10, 100), r.pick(10, 3000)),
        "settings = [{'lr': 3e-4, 'layers': list(range(%d))}, 'second', None, 12]\ndist.broadcast_object_list(settings, src=0%s)\n" % (r.pick(10, 300), r.pick("", ", device=torch.device('cuda', device)")),
        "dist.gather_object({'a': %d}, [None] * world if rank == 0 else None, dst=0)\n" % r.randint(1, 9),
"x = torch.ones(%d, 8, device='cuda')\ny = funcol.%s\nz = y %s\n" % (4 * world, r.pick("all_reduce(x, 'sum', dist.group.WORLD)", "all_gather_tensor(x, 0, dist.group.WORLD)", "all_gather_tensor(x, 1, dist.group.WORLD)",
            "reduce_scatter_tensor(x, 'sum', 0, dist.group.WORLD)", "broadcast(x, 0, dist.group.WORLD)", "all_to_all_single(x, None, None, dist.group.WORLD)", "all_reduce(x, 'avg', dist.group.WORLD)",
            "all_gather_tensor_autograd(x.requires_grad_(), 0, dist.group.WORLD)", "reduce_scatter_tensor_autograd(x.requires_grad_(), 'sum', 0, dist.group.WORLD)", "permute_tensor(x, [(i + 1) % world for i in range(world)], dist.group.WORLD)"),
            r.pick("* 2", "+ 1", "").strip()),
        "xs = funcol.all_reduce_coalesced([torch.ones(10, device='cuda'), torch.ones(3000, device='cuda')], 'sum', dist.group.WORLD)\nz = [x * 2 for x in xs]\n",
        "xs = funcol.all_gather_into_tensor_coalesced([torch.ones(10, device='cuda'), torch.ones(3000, device='cuda')], dist.group.WORLD)\nz = [x + 2 for x in xs]\nxs = None\n",
        "xs = funcol.reduce_scatter_tensor_coalesced([torch.ones(10 * world, device='cuda'), torch.ones(3000 * world, 2, device='cuda')], 'sum', [0, 0], dist.group.WORLD)\nz = [x + 2 for x in xs]\nxs = x = None\n",
        "a = torch.randn(64, 32, device='cuda', requires_grad=True)\nb = dnn.%s\n%s.square().mean().backward()\na = b = None\n" % r.pick(
            ("all_reduce(a * 2)", "b"), ("broadcast(a * 2, 0)", "b"), ("reduce(a * 2, 0)", "b"), ("all_gather(a * 2)", "torch.cat(b)"), ("gather(a * 2, 0)", "torch.cat(b)"),
            ("reduce_scatter(torch.empty_like(a), [a * i for i in range(world)])", "b"), ("all_to_all([torch.empty_like(a) for _ in range(world)], [a * 2 for _ in range(world)])", "torch.stack(b)"),
            ("all_to_all_single(torch.empty_like(a), a * 3)", "b"), ("_all_gather_base(torch.empty(64 * world, 32, device='cuda'), a * 2)", "b"), ("scatter([a * i for i in range(world)], 0)", "b")),
    ]
    return choices[r.randrange(len(choices))]


def collectives(r):
    world = r.pick(2, 4, 8)
    lines, groups = group_of(r, world)
    imports = "import torch.distributed._functional_collectives as funcol\nimport torch.distributed.nn.functional as dnn\nfrom torch.distributed.device_mesh import init_device_mesh\n"
    body = lines + "works = []\n"
    steps = "".join(collective(r, groups, i) if r.chance(0.6) else other_call(r, world, groups) for i in range(r.randint(4, 10)))
    steps += "for w in works:\n    w.wait()\nworks.clear()\nw = None\n"
    body += "for turn in range(2):\n" + indent(steps) if r.chance(0.5) else steps
    return Script(head(r, imports) + body + "print(torch.cuda.memory_allocated())\n" + END, world, "collectives", settle=True)


def placement(r, ndim, partial=False):
    return r.choice(["Replicate()"] + ["Shard(%d)" % i for i in range(ndim)] * 2 + (["Partial()"] if partial else []))


def dtensors(r):
    """redistribution and operators of DTensors, with gradients"""
    two = r.chance(0.35)
    world = r.pick(4, 8) if two else r.pick(2, 3, 4)
    n = 2 if two else 1
    imports = ("from torch.distributed.device_mesh import init_device_mesh\nfrom torch.distributed.tensor import (DTensor, Partial, Replicate, Shard, distribute_tensor, empty, full, ones, rand, randn, zeros)\n")
    body = "mesh = init_device_mesh('cuda', %s)\n" % ("(2, world // 2), mesh_dim_names=('a', 'b')" if two else "(world,)")
    placed = lambda ndim, partial=False: "[%s]" % ", ".join(placement(r, ndim, partial) for _ in range(n))
    even = r.chance(0.75)
    rows, cols, inner = (world * r.pick(4, 16, 64), world * r.pick(8, 32), world * r.pick(4, 12)) if even else (r.randint(5, 70), r.randint(9, 90), r.randint(6, 40))
    body += f"a = distribute_tensor(torch.randn({rows}, {cols}, device='cuda', requires_grad={r.chance(0.7)}), mesh, {placed(2)})\n"
    body += f"b = distribute_tensor(torch.randn({cols}, {inner}, device='cuda', requires_grad={r.chance(0.7)}), mesh, {placed(2)})\n"
    body += f"v = distribute_tensor(torch.randn({cols}, device='cuda'), mesh, {placed(1)})\n"
    steps = ""
    for _ in range(r.randint(3, 8)):
        steps += r.pick(
            "c = a @ b\n", "c = torch.mm(a, b)\n", f"c = a.redistribute(mesh, {placed(2)})\n", f"c = a.redistribute(placements={placed(2)}).to_local()\n", "c = a.full_tensor()\n", "c = a.to_local() * 2\n",
            "c = (a * 2 + 1).relu()\n", "c = a + v\n", "c = a * v\n", "c = F.gelu(a)\n", "c = a.sum()\n", "c = a.mean(dim=%s)\n" % r.pick("0", "1", "-1", "0, keepdim=True"), "c = a.sum(dim=%s)\n" % r.pick("0", "1", "-1, keepdim=True"),
            "c = a.t()\n", "c = a.transpose(0, 1).contiguous()\n", f"c = a.view({rows}, -1, 2)\n" if cols % (2 * world) == 0 else "c = a.flatten()\n", "c = torch.softmax(a, dim=%s)\n" % r.pick("0", "-1"), "c = torch.log_softmax(a, dim=-1)\n",
            "c = a.pow(2).sum().sqrt()\n", "c = torch.cat([a, a], dim=%s)\n" % r.pick("0", "1"), "c = torch.stack([a, a])\n", "c = a.unsqueeze(0)\n", "c = a[:, 1:3]\n" if False else "c = a.detach().clone()\n", "c = a.to(torch.bfloat16)\n",
            "c = (a > 0).float()\n", "c = torch.where(a > 0, a, a * 0.1)\n", "c = a.max()\n", "c = a.amax(dim=1)\n", "c = F.layer_norm(a, (%d,))\n" % cols, "c = F.linear(a, b.t())\n", "c = a.norm()\n", "c = a.abs().mean()\n",
            "c = torch.exp(-a) / (1 + torch.exp(-a))\n", "c = a.chunk(2, dim=1)[0] * 2\n", "c = a.argmax(dim=1)\n", "c = a.std()\n" if False else "c = a.var(dim=1)\n", "c = F.dropout(a, 0.1)\n", "c = torch.zeros_like(a)\n", "c = a.cumsum(1)\n",
            "c = torch.einsum('ij,jk->ik', a, b)\n", "c = a.clamp(min=0)\n", "c = a.detach().add_(1)\n", "c = a.detach().mul_(2).sub_(1)\n", "c = torch.addmm(v2, a, b)\n" if False else "c = torch.tanh(a)\n", "c = a.expand(2, %d, %d)\n" % (rows, cols),
            "c = torch.equal(a, a)\n" if False else "c = a.isnan().any()\n", "c = a.tril()\n", f"c = DTensor.from_local(torch.ones(6, 5, device='cuda'), mesh, {placed(2, True)})\n",
            f"c = DTensor.from_local(torch.ones(6, 4, device='cuda'), mesh, {placed(2, True)}).redistribute(placements={placed(2)})\n",
            f"c = {r.pick('zeros', 'ones', 'rand', 'randn', 'empty')}({rows}, {cols}, device_mesh=mesh, placements={placed(2)})\n", f"c = distribute_tensor(torch.ones({rows}, 10, device='cuda'), mesh, {placed(2)})\n")
        if r.chance(0.5):
            steps += "if isinstance(c, torch.Tensor) and c.requires_grad:\n    c.float().sum().backward()\n    a.grad = b.grad = None\n"
    body += "for turn in range(2):\n" + indent(steps) if r.chance(0.4) else steps
    return Script(head(r, imports) + body + "print(torch.cuda.memory_allocated())\n" + END, world, "dtensors")
