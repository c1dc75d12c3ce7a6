import torch.distributed as dist
from torch.utils.data.sampler import Sampler


class DistributedSampler(Sampler):
    """one rank's share of a data set: every `num_replicas`-th sample. Shuffled, it has other samples of as many: the
    order is that of the data set here"""

    def __init__(self, dataset, num_replicas=None, rank=None, shuffle=True, seed=0, drop_last=False):
        self.num_replicas = dist.get_world_size() if num_replicas is None else num_replicas
        self.rank = dist.get_rank() if rank is None else rank
        if not 0 <= self.rank < self.num_replicas:
            raise ValueError(
                f"Invalid rank {self.rank}, rank should be in the interval [0, {self.num_replicas - 1}]"
            )
        self.dataset, self.shuffle, self.seed, self.drop_last, self.epoch = dataset, shuffle, seed, drop_last, 0
        count = len(dataset)
        if drop_last and count % self.num_replicas != 0:
            count -= self.num_replicas - 1
        self.num_samples = -(-count // self.num_replicas)
        self.total_size = self.num_samples * self.num_replicas

    def __iter__(self):
        count = len(self.dataset)
        starts = range(0, self.total_size, self.num_replicas)
        if self.total_size <= count:
            return iter([self.rank + start for start in starts])
        return iter([(self.rank + start) % count for start in starts])

    def __len__(self):
        return self.num_samples

    def set_epoch(self, epoch):
        self.epoch = epoch
