"""Captures: a training step, inference at several sizes from one pool, graphs that are reset and die; MemPools."""
import torch
from torch import nn


def training_step():
    model = nn.Sequential(nn.Linear(256, 1024), nn.ReLU(), nn.Dropout(0.1), nn.Linear(1024, 256)).cuda()
    opt = torch.optim.Adam(model.parameters(), capturable=True)
    static_x, static_y = (torch.randn(64, 256, device="cuda") for _ in range(2))
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            opt.zero_grad(set_to_none=True)
            nn.functional.mse_loss(model(static_x), static_y).backward()
            opt.step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    opt.zero_grad(set_to_none=True)
    with torch.cuda.graph(graph):
        loss = nn.functional.mse_loss(model(static_x), static_y)
        loss.backward()
        opt.step()
    for _ in range(3):
        static_x.copy_(torch.randn(64, 256, device="cuda"))
        static_y.copy_(torch.randn(64, 256, device="cuda"))
        graph.replay()
    torch.cuda.synchronize()


def decode(x, weight):
    for _ in range(3):
        x = torch.relu(x @ weight)
    return x


def sizes_from_one_pool():
    weight = torch.randn(1024, 1024, device="cuda")
    handle = torch.cuda.graph_pool_handle()
    stream, graphs, outs = torch.cuda.Stream(), {}, {}
    for batch in (32, 16, 8, 1):
        x = torch.randn(batch, 1024, device="cuda")
        decode(x, weight)
        torch.cuda.synchronize()
        g = torch.cuda.CUDAGraph()
        with torch.cuda.graph(g, pool=handle, stream=stream):
            out = decode(x, weight)
        graphs[batch], outs[batch] = g, out
    for b in graphs:
        graphs[b].replay()
    g2 = torch.cuda.CUDAGraph()
    with torch.cuda.graph(g2):
        out2 = decode(x, weight)
    g3 = torch.cuda.CUDAGraph()
    with torch.cuda.graph(g3, pool=g2.pool()):
        out3 = decode(out2, weight)
    g2.reset()
    del out2
    torch.cuda.empty_cache()
    g3.reset()
    del out3, g3, g2
    torch.cuda.empty_cache()
    graphs.clear()
    outs.clear()
    del g, out
    torch.cuda.empty_cache()


def pools_of_ones_own():
    weight = torch.randn(512, 512, device="cuda", requires_grad=True)
    pool = torch.cuda.MemPool()
    with torch.cuda.use_mem_pool(pool):
        y = torch.zeros(1 << 22, device="cuda")
        z = (weight @ weight).relu().sum()
        z.backward()  # autograd's thread asks elsewhere
        del y
        q = torch.zeros(1 << 21, device="cuda")
        with torch.cuda.stream(torch.cuda.Stream()):
            r = torch.zeros(300, device="cuda")
    u = torch.zeros(1 << 22, device="cuda")
    del q, z, r
    print(pool.use_count())
    del pool
    torch.cuda.empty_cache()
    whole = torch.cuda.MemPool(no_split=True)
    with torch.cuda.use_mem_pool(whole):
        u = [torch.zeros(n, device="cuda") for n in (1 << 22, 100, 100)]
    del u
    torch.cuda.empty_cache()


def served_by_a_pool_when_full():
    pool = torch.cuda.MemPool(use_on_oom=True)
    with torch.cuda.use_mem_pool(pool):
        a = torch.zeros(1 << 29, device="cuda")
    del a
    blocks = []
    try:
        while True:
            blocks.append(torch.zeros(1 << 29, device="cuda"))
    except torch.OutOfMemoryError:
        print(len(blocks), "blocks")
    del blocks


training_step()
sizes_from_one_pool()
pools_of_ones_own()
served_by_a_pool_when_full()
print(torch.cuda.is_current_stream_capturing())
