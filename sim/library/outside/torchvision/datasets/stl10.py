import numpy as np
from PIL import Image
from torchvision.datasets import _counts


class STL10(_counts.PictureSet):
    base_folder = "stl10_binary"
    classes = ["airplane", "bird", "car", "cat", "deer", "dog", "horse", "monkey", "ship", "truck"]
    splits = ("train", "train+unlabeled", "unlabeled", "test")
    _counts_of = {"train": 5000, "train+unlabeled": 105000, "unlabeled": 100000, "test": 8000}

    def __init__(self, root, split="train", folds=None, transform=None, target_transform=None, download=False):
        super().__init__(root, transform, target_transform)
        self.split, self.folds = split, folds
        count = self._counts_of[split] if folds is None else 1000
        self.data = _counts.pictures(count, 3, 96, 96)
        self.labels = np.full(count, -1) if split == "unlabeled" else np.empty(count, dtype="int64")

    def __getitem__(self, index):
        img, target = self.data[index], int(self.labels[index])
        return self.transformed(Image.fromarray(np.transpose(img, (1, 2, 0))), target)

    def extra_repr(self):
        return f"Split: {self.split}"
