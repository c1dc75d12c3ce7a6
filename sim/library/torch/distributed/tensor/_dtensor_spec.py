from torch.distributed.tensor.placement_types import Partial, Replicate


def _contiguous_stride(shape):
    stride, step = [], 1
    for size in list(shape)[::-1]:
        stride.insert(0, step)
        step *= max([size, 1])
    return tuple(stride)


class DTensorSpec:
    """where a tensor lies on a mesh, and what the whole of it looks like"""

    def __init__(self, mesh, placements, shape, stride, dtype):
        self.mesh, self.placements = mesh, tuple(placements)
        self.shape, self.stride, self.dtype = tuple(shape), tuple(stride), dtype

    def of_gradient(self):
        """how a gradient lies that does not say so itself"""
        return self.with_placements([Replicate() if p.is_partial() else p for p in self.placements])

    @property
    def device_mesh(self):
        return self.mesh

    @property
    def ndim(self):
        return len(self.shape)

    @property
    def num_shards_map(self):
        """by dimension of the tensor: in how many parts it is"""
        counts = [1] * len(self.shape)
        for dim, placement in enumerate(self.placements):
            if placement.is_shard():
                counts[placement.dim] *= self.mesh.size(dim)
        return counts

    def is_replicated(self):
        return all([p.is_replicate() for p in self.placements])

    def with_placements(self, placements):
        return DTensorSpec(self.mesh, placements, self.shape, self.stride, self.dtype)

    def with_shape(self, shape, stride=None):
        return DTensorSpec(
            self.mesh, self.placements, shape, _contiguous_stride(shape) if stride is None else stride, self.dtype
        )

    def local_shape(self, shape=None):
        """this rank's part of a whole of that shape"""
        sizes, coordinate = list(self.shape if shape is None else shape), self.mesh.get_coordinate()
        for dim, placement in enumerate(self.placements):
            if placement.is_shard():
                sizes[placement.dim] = placement.local_shard_size_and_offset(
                    sizes[placement.dim], self.mesh.size(dim), coordinate[dim]
                )[0]
        return tuple(sizes)

    def __eq__(self, other):
        return isinstance(other, DTensorSpec) and (self.mesh, self.placements, self.shape) == (
            other.mesh, other.placements, other.shape
        )

    def __hash__(self):
        return hash((self.mesh, self.placements, self.shape))

    def __repr__(self):
        return f"Spec({self.placements} on {self.shape})"
