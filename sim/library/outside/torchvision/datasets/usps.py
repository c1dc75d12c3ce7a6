from PIL import Image
from torchvision.datasets import _counts


class USPS(_counts.PictureSet):
    def __init__(self, root, train=True, transform=None, target_transform=None, download=False):
        super().__init__(root, transform, target_transform)
        count = 7291 if train else 2007
        self.data, self.targets = _counts.pictures(count, 16, 16), _counts.labels(count)

    def __getitem__(self, index):
        img, target = self.data[index], int(self.targets[index])
        return self.transformed(Image.fromarray(img, mode="L"), target)
