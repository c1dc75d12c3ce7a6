from torch.distributed.tensor.placement_types import Replicate, _MaskPartial


_contiguous = {}


def _contiguous_stride(shape):
    shape = tuple(shape)
    if shape not in _contiguous:
        stride, step = [], 1
        for size in shape[::-1]:
            stride.insert(0, step)
            step *= max([size, 1])
        _contiguous[shape] = tuple(stride)
    return _contiguous[shape]


_all = {}  # by what they say: few, and operators ask the same of them again and again


class DTensorSpec:
    """where a tensor lies on a mesh, and what the whole of it looks like. Those that say the same are one object, which
    is never changed, so that what follows from it is worked out once (`known`)"""

    def __new__(cls, mesh, placements, shape, stride, dtype):
        placements, shape, stride = tuple(placements), tuple(shape), tuple(stride)
        key = (id(mesh), placements, shape, stride, dtype)
        self = _all.get(key)
        if self is None:
            self = object.__new__(cls)
            self.mesh, self.placements, self.shape, self.stride, self.dtype = mesh, placements, shape, stride, dtype
            self.known = {}
            self.has_terms = any([p.is_partial() for p in placements])
            # A mask goes with its tensor.
            self.is_shared = not any([isinstance(p, _MaskPartial) for p in placements])
            if self.is_shared:
                _all[key] = self
        return self

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        return DTensorSpec, (self.mesh, self.placements, self.shape, self.stride, self.dtype)

    def of_gradient(self):
        """how a gradient lies that does not say so itself"""
        if not self.has_terms:
            return self
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

    def is_even(self):
        """all ranks have parts of one size"""
        if "is_even" not in self.known:
            self.known["is_even"] = all([size % count == 0 for size, count in zip(self.shape, self.num_shards_map)])
        return self.known["is_even"]

    def is_replicated(self):
        return all([p.is_replicate() for p in self.placements])

    def with_placements(self, placements):
        return DTensorSpec(self.mesh, placements, self.shape, self.stride, self.dtype)

    def with_shape(self, shape, stride=None):
        stride = _contiguous_stride(shape) if stride is None else stride
        return DTensorSpec(self.mesh, self.placements, shape, stride, self.dtype)

    def with_dtype(self, dtype):
        return DTensorSpec(self.mesh, self.placements, self.shape, self.stride, dtype)

    def laid(self, placements, shape, stride, dtype):
        """on the same mesh; no stride: one after another"""
        stride = _contiguous_stride(shape) if stride is None else tuple(stride)
        placements, shape = tuple(placements), tuple(shape)
        found = _all.get((id(self.mesh), placements, shape, stride, dtype))
        return DTensorSpec(self.mesh, placements, shape, stride, dtype) if found is None else found

    def local_shape(self, shape=None):
        """this rank's part of a whole of that shape"""
        sizes, coordinate = list(self.shape if shape is None else shape), self.mesh.get_coordinate()
        for dim, placement in enumerate(self.placements):
            if placement.is_shard():
                sizes[placement.dim] = placement._own_size(sizes[placement.dim], self.mesh.size(dim), coordinate[dim])
        return tuple(sizes)

    def __repr__(self):
        return f"Spec({self.placements} on {self.shape})"
