import random
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset, get_worker_info


class Crops(Dataset):
    def __len__(self):
        return 7

    def __getitem__(self, i):
        info = get_worker_info()
        return i, -1 if info is None else info.id, random.randint(0, 99), int(np.random.randint(0, 99)), int(torch.randint(0, 99, (1,)))


class Stream(IterableDataset):
    def __init__(self, shared):
        self.shared = shared

    def __iter__(self):
        info = get_worker_info()
        begin, step = (0, 1) if info is None or not self.shared else (info.id, info.num_workers)
        return iter(range(begin, 9, step))


def listed(batch):
    return batch


def begin(worker):
    random.seed(worker)


if __name__ == "__main__":
    random.seed(1)
    np.random.seed(2)
    torch.manual_seed(3)
    for settings in (dict(num_workers=0), dict(num_workers=2), dict(num_workers=3, prefetch_factor=1), dict(num_workers=2, worker_init_fn=begin)):
        loader = DataLoader(Crops(), batch_size=2, shuffle=True, collate_fn=listed, **settings)
        for epoch in range(2):
            print(settings.get("num_workers"), list(loader))
        print(random.random(), np.random.rand(), torch.rand(1).item())
    kept = DataLoader(Crops(), batch_size=3, shuffle=True, collate_fn=listed, num_workers=2, persistent_workers=True)
    for epoch in range(3):
        print("kept", list(kept))
    print(random.random(), np.random.rand(), torch.rand(1).item())
    for shared in (False, True):
        for n in (0, 1, 2, 3):
            print("stream", shared, n, list(DataLoader(Stream(shared), batch_size=2, collate_fn=listed, num_workers=n)))
            print("stream", shared, n, list(DataLoader(Stream(shared), batch_size=4, collate_fn=listed, num_workers=n, drop_last=True)))
    again = DataLoader(Stream(True), batch_size=2, collate_fn=listed, num_workers=2, persistent_workers=True)
    print(list(again), list(again))
    whole = DataLoader(torch.utils.data.TensorDataset(torch.arange(6)), batch_size=4, shuffle=True, num_workers=2)
    print([b[0].tolist() for b in whole], torch.rand(1).item())
