import numpy as np
from PIL import Image
from torchvision.datasets import _counts


class SVHN(_counts.PictureSet):
    _counts_of = {"train": 73257, "test": 26032, "extra": 531131}

    def __init__(self, root, split="train", transform=None, target_transform=None, download=False):
        super().__init__(root, transform, target_transform)
        self.split = split
        count = self._counts_of[split]
        self.data, self.labels = _counts.pictures(count, 3, 32, 32), np.empty(count, dtype="int64")

    def __getitem__(self, index):
        img, target = self.data[index], int(self.labels[index])
        return self.transformed(Image.fromarray(np.transpose(img, (1, 2, 0))), target)

    def extra_repr(self):
        return f"Split: {self.split}"
