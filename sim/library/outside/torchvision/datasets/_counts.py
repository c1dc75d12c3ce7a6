import _files
import _tidemark
import numpy as np
import torch
from torchvision.datasets.vision import VisionDataset

# What the files of torchvision's data sets hold, by count and shape: they are not read, and need not be there. Pictures
# and labels are numbers that are not known.


class PictureSet(VisionDataset):
    def __init__(self, root, transform, target_transform):
        super().__init__(root, transform=transform, target_transform=target_transform)
        _files.make_folder(self.root)  # where the files are, whoever put them there
        name = type(self).__name__
        _tidemark.note(f"{name}'s files are not read: its counts and shapes are known, its values are not")

    def transformed(self, img, target):
        if self.transform is not None:
            img = self.transform(img)
        if self.target_transform is not None:
            target = self.target_transform(target)
        return img, target

    def __len__(self):
        return len(self.data)

    def download(self):
        pass


def pictures(*shape):
    """an array of bytes"""
    return np.empty(shape, dtype="uint8")


def labels(count):
    """a list of whole numbers"""
    return torch.empty(count, dtype=torch.int64).tolist()
