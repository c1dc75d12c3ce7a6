"""Futures of collectives: waited for together, one by one, with callbacks, before and after they are done."""
import os

import torch
import torch.distributed as dist

dist.init_process_group("nccl")
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
world = dist.get_world_size()
grads = [torch.randn(n, 1000, device="cuda") for n in (300, 7, 1200, 64)]
together = torch.futures.collect_all([dist.all_reduce(g, async_op=True).get_future() for g in grads])
print(len(together.wait()), together.done())
del grads, together
parts = [torch.randn(600, device="cuda") for _ in range(3)]
wholes = [torch.empty(world * 600, device="cuda") for _ in parts]
waited = torch.futures.wait_all(
    [dist.all_gather_into_tensor(w, p, async_op=True).get_future() for w, p in zip(wholes, parts)]
)
sums = [w[0].sum() for w in waited]
del parts, wholes, waited
said = []
future = dist.all_reduce(torch.ones(5000, device="cuda"), async_op=True).get_future()
future.add_done_callback(lambda f: said.append(f.value()[0].mean()))
half = future.then(lambda f: f.value()[0] * 0.5)
both = torch.futures.collect_all([future, half]).then(lambda f: [x.value() for x in f.value()])
print(len(both.wait()), half.wait().shape, said[0].shape)
del future, half, both, said
own = torch.futures.Future(devices=[torch.cuda.current_device()])
plain = torch.futures.Future()
later = torch.futures.collect_all([own, plain]).then(lambda f: torch.zeros(70_000, device="cuda"))
own.set_result(torch.ones(40_000, device="cuda"))
print(later.done())
plain.set_result("text")
print(later.done(), later.wait().shape)
del own, plain, later
last = torch.randn(512, 512, device="cuda") @ torch.randn(512, 512, device="cuda")
dist.barrier()
dist.destroy_process_group()
