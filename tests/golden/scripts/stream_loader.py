"""A data loader that pins, and many streams: the 33rd is the first again."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

data = TensorDataset(torch.randn(300, 3, 16, 16), torch.zeros(300, dtype=torch.long))
loader = DataLoader(data, batch_size=64, pin_memory=True)
model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 14 * 14, 10)).cuda()
streams = [torch.cuda.Stream() for _ in range(34)]
print(streams[0] == streams[32], streams[1] == streams[33], streams[0] == streams[1], streams[2].stream_id)
for i, (x, y) in enumerate(loader):
    s = streams[i * 8 + 1]
    s.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(s):
        print(x.is_pinned(), torch.cuda.current_stream() == s)
        x, y = x.cuda(non_blocking=True), y.cuda(non_blocking=True)
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
    torch.cuda.current_stream().wait_stream(s)
    if i == 2:
        torch.cuda.empty_cache()
with torch.cuda.stream(None):
    print(torch.cuda.current_stream() == torch.cuda.default_stream(), torch.nonzero(y).shape)
h = torch.cuda.host_memory_stats()
print(h["allocated_bytes.current"], h["num_host_alloc"], torch.cuda.memory_reserved())
