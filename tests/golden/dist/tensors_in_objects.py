"""Objects with tensors of the host in them: what their bytes take on the device, met once and twice, large ones too."""
import os
import torch
import torch.distributed as dist

dist.init_process_group("nccl")
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
table, row = torch.zeros(10, 10), torch.zeros(10)
types = (torch.float32, torch.int64, torch.bool, torch.bfloat16)
sizes = ((), (3,), (300,), (70000,), (4, 5), (2, 3, 4, 5))
objects = [torch.zeros(size, dtype=dtype) for dtype in types for size in sizes]
objects += [[row, torch.ones(3)], {"a": row, "b": row}, [torch.zeros(20000), torch.zeros(30000), 5], table[2:4]]
objects += [table.requires_grad_(), {"loss": torch.tensor(0.5), "steps": 7, "found": torch.zeros(64, dtype=torch.long)}]
for each in objects:
    gathered = [None] * dist.get_world_size()
    dist.all_gather_object(gathered, each)
    dist.broadcast_object_list([each], src=0)
dist.destroy_process_group()
