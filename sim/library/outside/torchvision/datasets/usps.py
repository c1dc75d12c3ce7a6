from PIL import Image
from torchvision.datasets import _counts
from torchvision.datasets.vision import VisionDataset


class USPS(VisionDataset):
    def __init__(self, root, train=True, transform=None, target_transform=None, download=False):
        super().__init__(root, transform=transform, target_transform=target_transform)
        _counts.note(self)
        count = 7291 if train else 2007
        self.data, self.targets = _counts.pictures(count, 16, 16), _counts.labels(count)

    def __getitem__(self, index):
        img, target = self.data[index], int(self.targets[index])
        img = Image.fromarray(img, mode="L")
        if self.transform is not None:
            img = self.transform(img)
        if self.target_transform is not None:
            target = self.target_transform(target)
        return img, target

    def __len__(self):
        return len(self.data)
