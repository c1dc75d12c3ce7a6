import numpy as np
from PIL import Image
from torchvision.datasets import _counts
from torchvision.datasets.vision import VisionDataset


class SVHN(VisionDataset):
    _counts_of = {"train": 73257, "test": 26032, "extra": 531131}

    def __init__(self, root, split="train", transform=None, target_transform=None, download=False):
        super().__init__(root, transform=transform, target_transform=target_transform)
        self.split = split
        _counts.note(self)
        count = self._counts_of[split]
        self.data, self.labels = _counts.pictures(count, 3, 32, 32), np.empty(count, dtype="int64")

    def __getitem__(self, index):
        img, target = self.data[index], int(self.labels[index])
        img = Image.fromarray(np.transpose(img, (1, 2, 0)))
        if self.transform is not None:
            img = self.transform(img)
        if self.target_transform is not None:
            target = self.target_transform(target)
        return img, target

    def __len__(self):
        return len(self.data)

    def download(self):
        pass

    def extra_repr(self):
        return f"Split: {self.split}"
