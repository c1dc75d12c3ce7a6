from torch.distributed.tensor import DTensor, Replicate, Shard


class ShardedTensor:
    """this rank's rows of a parameter"""

    def __init__(self, whole, group, offload_to_cpu):
        self._shape, chunks = whole.shape, whole.chunk(group.size())
        self.dtype = whole.dtype
        self._local = chunks[group.rank()].clone() if group.rank() < len(chunks) else None
        if offload_to_cpu and self._local is not None:
            self._local = self._local.cpu()

    @property
    def shape(self):
        return self._shape

    def size(self, dim=None):
        return self._shape if dim is None else self._shape[dim]

    def local_tensor(self):
        return self._local

    def cpu(self):
        moved = ShardedTensor.__new__(ShardedTensor)
        moved._shape, moved.dtype = self._shape, self.dtype
        moved._local = None if self._local is None else self._local.cpu()
        return moved


def _rows_as_dtensor(tensor, mesh):
    tensor = tensor.detach().clone()
    whole = [Replicate() for _ in range(mesh.ndim)]
    return DTensor.from_local(tensor, mesh, whole, run_check=False).redistribute(placements=[*whole[:-1], Shard(0)])
