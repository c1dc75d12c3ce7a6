#!/usr/bin/env python3
"""Ranks that do the same are run once: what one of them asks of its rank says which. Running each must say the same.

    alike_test.py PATH/TO/tidemark [SCRIPT OPTIONS...]

With scripts (`SCRIPT --world N`, one an argument) those are compared instead, and the classes printed.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

TIDEMARK = os.path.abspath(sys.argv[1])
SETTING = ("--device", "h100-sxm-80gb", "--format", "json")
HEAD = """import os, random, torch, torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
rank, local = int(os.environ["RANK"]), int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(local)
dist.init_process_group("nccl")
"""
# What a program does with its rank: name, ranks of the world, lines, how many differ.
PROGRAMS = {
    "nothing": (8, "x = torch.ones(1000, device='cuda')", 1),
    "a branch": (8, "x = torch.ones(1000 if rank == 0 else 2000, device='cuda')", 2),
    "a comparison": (8, "x = torch.ones(1000 if 2 <= dist.get_rank() < 5 else 2000, device='cuda')", 2),
    "a branch for the last": (8, "x = torch.ones(1000 + (rank == dist.get_world_size() - 1), device='cuda') if rank else None", 3),
    "a size": (4, "x = torch.ones(1000 * (rank + 1), device='cuda')", 4),
    "a size of pairs": (8, "x = torch.ones(1000 * (rank // 2 + 1), device='cuda')", 4),
    "a size that is rounded": (4, "x = torch.ones(1 + rank, device='cuda')", 4),
    "a text that is shown": (8, "print(f'rank {rank} of {dist.get_world_size()} on cuda:{local}')\nx = torch.ones(9, device='cuda')", 1),
    "a device by text": (8, "x = torch.ones(9, device=f'cuda:{local}')\nprint(f'{x.device} {torch.cuda.current_device()}')", 1),
    "the number of a device": (8, "x = torch.ones(1000 * (1 + torch.cuda.current_device() // 4), device='cuda')", 2),
    "one device for all": (4, "x = torch.ones(1000, device='cuda:0')", 2),
    "a key": (4, "x = torch.ones({0: 1000}.get(rank, 2000), device='cuda')", 2),
    "a list of numbers": (4, "x = torch.ones([1000, 1000, 3000, 1000][rank], device='cuda')", 2),
    "a member": (8, "x = torch.ones(1000 if rank in (1, 2, 3) else 2000, device='cuda')", 2),
    "a part": (8, "x = torch.ones(8000, device='cuda')[rank * 1000:(rank + 1) * 1000].clone()", 1),
    "an uneven part": (8, "x = torch.ones(7300, device='cuda')[rank * 1000:(rank + 1) * 1000].clone()", 2),
    "a chunk": (8, "x = torch.ones(8000, 4, device='cuda').chunk(8)[rank].clone()", 1),
    "a row": (8, "x = torch.ones(8, 1000, device='cuda')[rank] * 2", 1),
    "known numbers": (4, "x = torch.arange(4)[rank].item()\ny = torch.ones(1000 * (x + 1), device='cuda')", 4),
    "a seed": (8, "torch.manual_seed(17 + rank)\nx = torch.randn(1000, device='cuda')", 1),
    "a seed that decides": (4, "torch.manual_seed(rank)\nn = int(torch.randint(1, 9, (1,)))\nx = torch.ones(1000 * n, device='cuda')", None),
    "Python's own seed": (4, "random.seed(rank)\nx = torch.ones(1000 * random.randint(1, 9), device='cuda')", None),
    "a name of a file": (4, "path = os.path.join('out', f'rank{rank}.pt')\nx = torch.ones(9, device='cuda')", 1),
    "an error that is caught": (4, "try:\n    x = [1, 2][rank]\nexcept IndexError:\n    x = 3000\ny = torch.ones(x * 1000, device='cuda')", None),
    "a ring": (4, "x, y = torch.ones(1000, device='cuda'), torch.ones(1000, device='cuda')\n"
               "for w in [dist.isend(x, (rank + 1) % 4), dist.irecv(y, (rank - 1) % 4)]:\n    w.wait()", None),
    "pairs": (4, "x = torch.ones(1000, device='cuda')\n(dist.send if rank % 2 == 0 else dist.recv)(x, rank ^ 1)", None),
    "groups": (8, "for i in range(0, 8, 2):\n    g = dist.new_group([i, i + 1])\n    if rank in (i, i + 1):\n        mine = g\n"
               "dist.all_reduce(torch.ones(1000, device='cuda'), group=mine)", 1),
    "a mesh": (8, "mesh = init_device_mesh('cuda', (2, 4), mesh_dim_names=('dp', 'tp'))\n"
               "x = torch.ones(1000 * (1 + mesh.get_local_rank('dp')), device='cuda')\n"
               "dist.all_reduce(x, group=mesh['tp'].get_group())", 2),
    "fully_shard": (8, "m = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.Linear(64, 64)).cuda()\n"
                    "fully_shard(m)\nm(torch.ones(4, 64, device='cuda')).sum().backward()", 1),
    "uneven fully_shard": (4, "m = torch.nn.Linear(64, 1023).cuda()\nfully_shard(m)\n"
                           "o = torch.optim.Adam(m.parameters())\nm(torch.ones(4, 64, device='cuda')).sum().backward()\no.step()", None),
    "two dimensions": (8, "mesh = init_device_mesh('cuda', (2, 4), mesh_dim_names=('r', 's'))\nm = torch.nn.Linear(64, 64).cuda()\n"
                       "fully_shard(m, mesh=mesh)\nm(torch.ones(4, 64, device='cuda')).sum().backward()", 1),
}  # fmt: skip


def classes(script, *options):
    done = subprocess.run([TIDEMARK, "run", script, *SETTING, *options], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        return done.stderr.splitlines()[:1]
    told = json.loads(done.stdout)["ranks"]
    return [(r["ranks"], r["peak_allocated_bytes"], r["peak_reserved_bytes"]) for r in told]


class Alike(unittest.TestCase):
    def test_what_is_asked_of_a_rank_says_which_ranks_do_the_same(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, (world, lines, count) in PROGRAMS.items():
                path = pathlib.Path(folder) / "train.py"
                path.write_text(HEAD + lines + "\n", encoding="utf-8")
                with self.subTest(name):
                    each = classes(path, "--world", str(world), "--rank", "all")
                    self.assertEqual(classes(path, "--world", str(world)), each)
                    if count is not None:
                        self.assertEqual(len(each), count, each)


if __name__ == "__main__":
    if len(sys.argv) > 2:
        differ = 0
        for line in sys.argv[2:]:
            one, every = classes(*line.split()), classes(*line.split(), "--rank", "all")
            differ += one != every
            print("alike" if one == every else "DIFFER", line, [c[0] for c in one], [c[0] for c in every] if one != every else "")
        sys.exit(differ > 0)
    del sys.argv[1]
    unittest.main()
