"""One of timm's models: made, and trained for a step. Without a name: which there are. A second
argument ends it earlier: imported, constructed."""
import sys

import timm
import torch

if len(sys.argv) == 1:
    print("\n".join(timm.list_models()))
    sys.exit()
if sys.argv[2:] == ["imported"]:
    sys.exit()
model = timm.create_model(sys.argv[1], pretrained=False, num_classes=10).cuda()
if sys.argv[2:] == ["constructed"]:
    sys.exit()
model.train()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
size = model.pretrained_cfg.get("input_size", (3, 224, 224)) if isinstance(model.pretrained_cfg, dict) else (3, 224, 224)
out = model(torch.rand(2, *size).cuda())
outs = out if isinstance(out, (list, tuple)) else [out]
loss = sum(each.square().mean() for each in outs)
loss.backward()
optimizer.step()
