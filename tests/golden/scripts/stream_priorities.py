"""Streams of several priorities, and one that is known by its handle alone; what has ended is asked, not waited for."""
import torch
from torch import nn

low, high, higher = torch.cuda.Stream(), torch.cuda.Stream(priority=-1), torch.cuda.Stream(priority=-5)
by_handle = torch.cuda.ExternalStream(high.cuda_stream)
model = nn.Linear(1000, 1000).cuda()
x = torch.randn(512, 1000, device="cuda")
ended, asked = 0, 0
for step in range(4):
    parts = []
    for stream in (low, high, higher, by_handle):
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream), torch.no_grad():
            y = model(x)
            y.record_stream(torch.cuda.default_stream())
            parts.append((y.sum(), stream.record_event()))
        del y
    for total, event in parts:
        asked += 1
        ended += event.query()
    total = parts = event = None
    torch.cuda.current_stream().wait_stream(higher)
    torch.cuda.synchronize()
    ended += sum(torch.cuda.Event().query() for _ in range(2))
print(low.priority, high.priority, higher.priority, by_handle.priority, torch.cuda.Stream.priority_range())
print(low.stream_id, high.stream_id, higher.stream_id, isinstance(by_handle, torch.cuda.Stream))
print(ended, asked, torch.cuda.memory_allocated(), torch.cuda.memory_reserved())
