import torch


class _HeadTailLoadBalancer:
    """each rank gets a part from the front and one from the back, so that causal attention costs all alike"""

    def __init__(self, seq_length, world_size, device):
        self.seq_length, self.world_size, self.device = seq_length, world_size, device

    def _generate_indices(self, restore=False):
        parts = 2 * self.world_size
        if self.seq_length % parts != 0:
            raise AssertionError("the sequence's length must be a multiple of twice the number of ranks")
        each, order = self.seq_length // parts, []
        for rank in range(self.world_size):
            for part in (rank, parts - 1 - rank):
                order.extend(range(part * each, (part + 1) * each))
        indices = torch.tensor(order, dtype=torch.int, device=self.device)
        if restore:
            indices = torch.argsort(indices)
        return indices.unsqueeze(0)
