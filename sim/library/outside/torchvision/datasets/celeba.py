import torch
from PIL import Image
from torchvision.datasets import _counts


class CelebA(_counts.PictureSet):
    base_folder = "celeba"
    _counts_of = {"train": 162770, "valid": 19867, "test": 19962, "all": 202599}

    def __init__(
        self, root, split="train", target_type="attr", transform=None, target_transform=None, download=False
    ):
        super().__init__(root, transform, target_transform)
        self.split = split
        self.target_type = target_type if isinstance(target_type, list) else [target_type]
        if not self.target_type and self.target_transform is not None:
            raise RuntimeError("target_transform is specified but target_type is empty")
        count = self._counts_of[split.lower()]
        self.filename = [f"{i + 1:06d}.jpg" for i in range(count)]
        self.attr = torch.empty(count, 40, dtype=torch.int64)
        self.identity = torch.empty(count, 1, dtype=torch.int64)
        self.bbox = torch.empty(count, 4, dtype=torch.int64)
        self.landmarks_align = torch.empty(count, 10, dtype=torch.int64)

    def __getitem__(self, index):
        img, target = Image.new("RGB", (178, 218)), []
        for kind in self.target_type:
            if kind == "identity":
                target.append(self.identity[index, 0])
            elif kind in ("attr", "bbox", "landmarks"):
                target.append(getattr(self, "landmarks_align" if kind == "landmarks" else kind)[index, :])
            else:
                raise ValueError(f'Target type "{kind}" is not recognized.')
        if self.transform is not None:
            img = self.transform(img)
        target = None if not target else tuple(target) if len(target) > 1 else target[0]
        if target is not None and self.target_transform is not None:
            target = self.target_transform(target)
        return img, target

    def __len__(self):
        return len(self.attr)

    def extra_repr(self):
        return f"Target type: {self.target_type}\nSplit: {self.split}"
