"""Random numbers of the host, and what a program decides by them: sizes, orders, how often, which branch."""

SEEDS = {"torch": "torch.manual_seed(%d)\n", "random": "import random\nrandom.seed(%d)\n", "numpy": "import numpy as np\nnp.random.seed(%d)\n",
         "generator": "gen = torch.Generator()\ngen.manual_seed(%d)\n"}


def coin(r, kind):
    """a condition that a number drawn by the program decides"""
    p = r.pick(0.2, 0.5, 0.5, 0.8)
    return r.choice({
        "torch": ["torch.rand(1).item() < %s" % p, "torch.rand(()) > %s" % p, "torch.bernoulli(torch.tensor(%s))" % p, "torch.randn(3).sum() > 0",
                  "torch.zeros(1).uniform_() < %s" % p, "torch.randint(0, 10, (1,)).item() %% %d == 0" % r.pick(2, 3), "(torch.rand(5) < %s).any()" % p,
                  "torch.normal(0.0, 1.0, (2,)).max().item() > 0.1", "torch.empty(20).normal_().mean() > 0"],
        "random": ["random.random() < %s" % p, "random.choice([True, False])", "random.uniform(-1, 1) > 0", "random.gauss(0, 1) > 0.3"],
        "numpy": ["np.random.rand() < %s" % p, "np.random.randint(2) == 1", "np.random.randn(3).sum() > 0", "np.random.choice(3) > 0"],
        "generator": ["torch.rand(1, generator=gen).item() < %s" % p, "torch.randint(3, (4,), generator=gen).sum() > 3"],
    }[kind])


def count(r, kind, least, most):
    """an integer of the program's own, least or a little more"""
    return r.choice({
        "torch": ["int(torch.randint(%d, %d, (1,)))", "torch.randint(%d, %d, ()).item()", "%d + int(torch.randperm(%d)[0]) // 2"],
        "random": ["random.randint(%d, %d - 1)", "random.randrange(%d, %d)", "random.choice(list(range(%d, %d)))"],
        "numpy": ["int(np.random.randint(%d, %d))", "int(np.random.choice(np.arange(%d, %d)))"],
        "generator": ["int(torch.randint(%d, %d, (1,), generator=gen))"],
    }[kind]) % (least, most)


def statements(r, kind):
    """some lines of a step"""
    size = r.pick(1000, 70000, 300000)
    return r.choice([
        "if %s:\n    kept = torch.zeros(%d, device='cuda')\n" % (coin(r, kind), size),
        "kept = torch.zeros(%s * %d, device='cuda')\n" % (count(r, kind, 1, 9), size),
        "held = [torch.zeros(%d, device='cuda') for _ in range(%s)]\n" % (size, count(r, kind, 1, 6)),
        "order = torch.randperm(6%s)\nheld = [torch.zeros(%d * (int(i) + 1), device='cuda') for i in order[:3]]\n" % (", generator=gen" if kind == "generator" else "", size),
        "while %s:\n    kept = torch.ones(%d, device='cuda')\n" % (coin(r, kind), size),
        "mask = torch.rand(64) < %s\nkept = torch.zeros(int(mask.sum()), %d).cuda()\n" % (r.pick(0.1, 0.5), size // 100),
        "pick = torch.multinomial(torch.ones(20), 4)\nkept = torch.zeros(int(pick.max()) + 1, %d, device='cuda')\n" % (size // 10),
        "for i in torch.utils.data.RandomSampler(range(5)):\n    kept = torch.zeros((i + 1) * %d, device='cuda')\n" % size,
        "kept = torch.zeros(%d, device='cuda') if %s else torch.zeros(%d, device='cuda')\n" % (size, coin(r, kind), 2 * size),
        "nums = torch.randint(1, 50, (8,))\nkept = torch.zeros(int(nums.cumsum(0)[-1]) * %d, device='cuda')\n" % (size // 50),
        "keep = torch.nonzero(torch.randn(30) > 0.5).flatten()\nkept = torch.zeros(30, %d, device='cuda')[keep.cuda()]\n" % (size // 50),
    ])


def add(r, head, step):
    """the loop's head and a step with host values in them"""
    kind = r.weighted(torch=5, random=2, numpy=2, generator=1)
    seeded = kind == "generator" or r.chance(0.6)
    seed = r.randint(0, 10**6)
    if seeded:
        head = SEEDS[kind] % seed + head
    else:
        head = {"random": "import random\n", "numpy": "import numpy as np\n"}.get(kind, "") + head
    more = "".join(statements(r, kind) for _ in range(r.randint(1, 3)))
    if r.chance(0.3):
        step = "b = %s\n" % count(r, kind, 2, 9) + step
    return head, (more + step if r.chance(0.5) else step + more)
