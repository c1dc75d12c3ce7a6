"""One of torchvision's models: made, and trained for a step. Without a name: which there are. A second
argument ends it earlier: imported, constructed."""
import sys

import torch
import torchvision

if len(sys.argv) == 1:
    print("\n".join(torchvision.models.list_models()))
    sys.exit()
if sys.argv[2:] == ["imported"]:
    sys.exit()
name = sys.argv[1]
DETECTION = ("fasterrcnn", "fcos", "keypointrcnn", "maskrcnn", "retinanet", "ssd")
options = {"weights": None}
if name.startswith(DETECTION):
    options["weights_backbone"] = None
elif name.startswith(("deeplabv3", "fcn", "lraspp")):
    options["weights_backbone"] = None
model = torchvision.models.get_model(name, **options).cuda()
if sys.argv[2:] == ["constructed"]:
    sys.exit()
model.train()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
side = 299 if name.endswith("inception_v3") else 224
if name.startswith(DETECTION):
    images = [torch.rand(3, 320, 320).cuda() for _ in range(2)]
    targets = []
    for _ in images:
        target = {"boxes": torch.tensor([[20.0, 30.0, 120.0, 160.0]]).cuda(), "labels": torch.tensor([1]).cuda()}
        if name.startswith("maskrcnn"):
            target["masks"] = torch.ones(1, 320, 320, dtype=torch.uint8).cuda()
        if name.startswith("keypointrcnn"):
            target["keypoints"] = torch.ones(1, 17, 3).cuda()
        targets.append(target)
    loss = sum(model(images, targets).values())
elif name.startswith("raft"):
    loss = sum(flow.square().mean() for flow in model(torch.rand(2, 3, 128, 128).cuda(), torch.rand(2, 3, 128, 128).cuda()))
elif name.startswith(("mc3", "r3d", "r2plus1d", "s3d", "mvit", "swin3d")):
    frames = 14 if name == "s3d" else 16
    loss = model(torch.rand(2, 3, frames, 224, 224).cuda()).square().mean()
else:
    out = model(torch.rand(2, 3, side, side).cuda())
    if isinstance(out, dict):
        out = list(out.values())
    elif not isinstance(out, torch.Tensor):
        out = [each for each in out if each is not None]
    loss = sum(each.square().mean() for each in (out if isinstance(out, list) else [out]))
loss.backward()
optimizer.step()
