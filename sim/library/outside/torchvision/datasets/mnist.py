import os
import string
import torch
from PIL import Image
from torchvision.datasets import _counts


class MNIST(_counts.PictureSet):
    mirrors, resources = [], []
    training_file, test_file = "training.pt", "test.pt"
    classes = [
        "0 - zero",
        "1 - one",
        "2 - two",
        "3 - three",
        "4 - four",
        "5 - five",
        "6 - six",
        "7 - seven",
        "8 - eight",
        "9 - nine",
    ]

    def __init__(self, root, train=True, transform=None, target_transform=None, download=False):
        super().__init__(root, transform, target_transform)
        self.train = train
        self.data, self.targets = self._load_data()

    def _count(self):
        return 60000 if self.train else 10000

    def _load_data(self):
        count = self._count()
        return torch.empty(count, 28, 28, dtype=torch.uint8), torch.empty(count, dtype=torch.int64)

    @property
    def train_labels(self):
        return self.targets

    @property
    def test_labels(self):
        return self.targets

    @property
    def train_data(self):
        return self.data

    @property
    def test_data(self):
        return self.data

    @property
    def raw_folder(self):
        return os.path.join(self.root, self.__class__.__name__, "raw")

    @property
    def processed_folder(self):
        return os.path.join(self.root, self.__class__.__name__, "processed")

    @property
    def class_to_idx(self):
        return {name: i for i, name in enumerate(self.classes)}

    def _check_exists(self):
        return True

    def __getitem__(self, index):
        img, target = self.data[index], int(self.targets[index])
        return self.transformed(Image.fromarray(img.numpy(), mode="L"), target)

    def extra_repr(self):
        return f"Split: {'Train' if self.train is True else 'Test'}"


class FashionMNIST(MNIST):
    classes = [
        "T-shirt/top",
        "Trouser",
        "Pullover",
        "Dress",
        "Coat",
        "Sandal",
        "Shirt",
        "Sneaker",
        "Bag",
        "Ankle boot",
    ]


class KMNIST(MNIST):
    classes = ["o", "ki", "su", "tsu", "na", "ha", "ma", "ya", "re", "wo"]


class EMNIST(MNIST):
    splits = ("byclass", "bymerge", "balanced", "letters", "digits", "mnist")
    _counts_of = {
        "byclass": (697932, 116323),
        "bymerge": (697932, 116323),
        "balanced": (112800, 18800),
        "letters": (124800, 20800),
        "digits": (240000, 40000),
        "mnist": (60000, 10000),
    }
    _merged_classes = {"c", "i", "j", "k", "l", "m", "o", "p", "s", "u", "v", "w", "x", "y", "z"}
    _all_classes = set(string.digits + string.ascii_letters)
    classes_split_dict = {
        "byclass": sorted(list(_all_classes)),
        "bymerge": sorted(list(_all_classes - _merged_classes)),
        "balanced": sorted(list(_all_classes - _merged_classes)),
        "letters": ["N/A"] + list(string.ascii_lowercase),
        "digits": list(string.digits),
        "mnist": list(string.digits),
    }

    def __init__(self, root, split, **kwargs):
        if split not in self.splits:
            raise ValueError(f"Unknown value '{split}' for argument split. Valid values are {set(self.splits)}.")
        self.split = split
        super().__init__(root, **kwargs)
        self.classes = self.classes_split_dict[self.split]

    def _count(self):
        return self._counts_of[self.split][0 if self.train else 1]


class QMNIST(MNIST):
    def __init__(self, root, what=None, compat=True, train=True, **kwargs):
        self.what = ("train" if train else "test") if what is None else what
        self.compat = compat
        super().__init__(root, train, **kwargs)

    def _count(self):
        return {"train": 60000, "test": 60000, "test10k": 10000, "test50k": 50000, "nist": 402953}[self.what]

    def _load_data(self):
        count = self._count()
        return torch.empty(count, 28, 28, dtype=torch.uint8), torch.empty(count, 8, dtype=torch.int64)

    def __getitem__(self, index):
        img, target = self.data[index], self.targets[index]
        img = Image.fromarray(img.numpy(), mode="L")
        if self.transform is not None:
            img = self.transform(img)
        if self.compat:
            target = int(target[0])
        if self.target_transform is not None:
            target = self.target_transform(target)
        return img, target
