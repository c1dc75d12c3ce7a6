import torch
import torchvision
from torchvision.models.feature_extraction import create_feature_extractor, get_graph_node_names

net = torchvision.models.resnet18()
ext = create_feature_extractor(net, return_nodes={"layer1": "a", "layer3": "b", "flatten": "f"}).cuda()
print(type(ext).__name__)
opt = torch.optim.SGD(ext.parameters(), lr=0.1)
for _ in range(2):
    out = ext(torch.randn(2, 3, 64, 64, device="cuda"))
    loss = sum(o.pow(2).mean() for o in out.values())
    opt.zero_grad(); loss.backward(); opt.step()
print(list(out), torch.cuda.max_memory_allocated())
