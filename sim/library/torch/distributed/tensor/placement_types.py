import torch._C as _C

_all = {}


class Placement:
    """how a tensor lies along one dimension of a mesh. Those that say the same are one object: they are compared, and
    found, by that"""

    @classmethod
    def _the(cls, *says):
        made = _all.get((cls, says))
        if made is None:
            made = _all[cls, says] = object.__new__(cls)
        return made

    def __new__(cls):
        return cls._the()

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        return type(self), self._says()

    def _says(self):
        return ()

    def is_shard(self, dim=None):
        return isinstance(self, Shard) and (dim is None or self.dim == dim)

    def is_replicate(self):
        return isinstance(self, Replicate)

    def is_partial(self, reduce_op=None):
        return isinstance(self, Partial) and (reduce_op is None or self.reduce_op == reduce_op)


class Shard(Placement):
    """each rank has a part of a dimension: equal ones but for the last"""

    def __new__(cls, dim):
        self = cls._the(dim)
        self.dim = dim
        return self

    def _says(self):
        return (self.dim,)

    def __repr__(self):
        return f"Shard(dim={self.dim})"

    @classmethod
    def _own_size(cls, size, num_chunks, rank):
        """the size alone: of equal parts no rank is asked for its number"""
        if size % num_chunks == 0:
            return size // num_chunks
        return cls.local_shard_size_and_offset(size, num_chunks, rank)[0]

    @staticmethod
    def local_shard_size_and_offset(size, num_chunks, rank):
        each = -(-size // num_chunks)
        if size % num_chunks == 0:  # the same for all ranks, which nothing asks for their number
            return each, each * rank
        start = min([size, each * rank])
        return min([size, start + each]) - start, start


class _StridedShard(Shard):
    """parts of parts: another dimension of the mesh divides first"""

    def __new__(cls, dim, *, split_factor):
        self = cls._the(dim, split_factor)
        self.dim, self.split_factor = dim, split_factor
        return self

    def __reduce__(self):
        return _strided, (self.dim, self.split_factor)

    def __repr__(self):
        return f"_StridedShard(dim={self.dim}, sf={self.split_factor})"


def _strided(dim, split_factor):
    return _StridedShard(dim, split_factor=split_factor)


class Replicate(Placement):
    def __repr__(self):
        return "Replicate()"


class Partial(Placement):
    """each rank has a term of what is still to be reduced"""

    def __new__(cls, reduce_op="sum"):
        self = cls._the(reduce_op)
        self.reduce_op = reduce_op
        return self

    def _says(self):
        return (self.reduce_op,)

    def __repr__(self):
        return f"Partial({self.reduce_op})"


class _NormPartial(Partial):
    """each rank has the norm of its part"""

    def __new__(cls, norm_type=2):
        self = cls._the(norm_type)
        self.reduce_op, self.norm_type = "sum", norm_type
        return self

    def _says(self):
        return (self.norm_type,)

    def __repr__(self):
        return f"_NormPartial(reduce_op={self.reduce_op}, norm_type={self.norm_type})"


class _MaskPartial(Partial):
    """each rank has the rows of its part of a table; others are zeros once the mask is applied. Each has a mask of its
    own, and is itself alone"""

    def __new__(cls, reduce_op="sum", offset_shape=None, offset_dim=0):
        self = object.__new__(cls)
        self.reduce_op, self.mask = reduce_op, None
        self.offset_shape, self.offset_dim = offset_shape, offset_dim
        return self

    def _says(self):
        return self.reduce_op, self.offset_shape, self.offset_dim

    def __repr__(self):
        return f"_MaskPartial(offset_shape={self.offset_shape}, offset_dim={self.offset_dim})"

    def _partition_value(self, indices, mesh, dim):
        """indices into this rank's part of the table; the mask says which lie elsewhere"""
        size, start = Shard.local_shard_size_and_offset(
            self.offset_shape[self.offset_dim], mesh.size(dim), mesh.get_coordinate()[dim]
        )
        start = _C.own_number(start, indices)
        self.mask = (indices < start) | (indices >= start + size)
        masked = indices.clone() - start
        masked[self.mask] = 0
        return masked

    def apply(self, out):
        """zeros what other ranks have; the mask goes"""
        if out.dim() == self.mask.dim():
            out[self.mask] = 0.0
        else:
            out[self.mask, :] = 0.0
        self.mask = None
