import torch
import torch._C as _C
from torch.distributed import distributed_c10d as c10d


def _nested(ranks, shape):
    """a flat list as lists of lists"""
    if len(shape) == 1:
        return list(ranks)
    size = len(ranks) // shape[0]
    return [_nested(ranks[i * size:(i + 1) * size], shape[1:]) for i in range(shape[0])]


def _flat(mesh):
    if isinstance(mesh, torch.Tensor):
        mesh = mesh.tolist()
    return [x for item in mesh for x in _flat(item)] if isinstance(mesh, (list, tuple)) else [mesh]


def _shape(mesh):
    if isinstance(mesh, torch.Tensor):
        return tuple(mesh.shape)
    return (len(mesh), *_shape(mesh[0])) if isinstance(mesh, (list, tuple)) else ()


def _product(sizes):
    total = 1
    for size in sizes:
        total *= size
    return total


class DeviceMesh:
    """ranks in a grid. A slice of it has the ranks that differ from this one in its dimensions alone. Source:
    torch.distributed.device_mesh.DeviceMesh"""

    def __init__(
        self, device_type, mesh=None, *, mesh_dim_names=None, backend_override=None, _init_backend=True,
        _rank=None, _ranks=None, _sizes=None, _groups=None, _root=None
    ):
        self.device_type = device_type
        self._ranks = _flat(mesh) if _ranks is None else _ranks
        self._sizes = _shape(mesh) if _sizes is None else tuple(_sizes)
        self.mesh_dim_names = None if mesh_dim_names is None else tuple(mesh_dim_names)
        self._root = self if _root is None else _root
        self._flattened = {}
        if not c10d.is_initialized():
            c10d.init_process_group()
        job = _C.rank_in_job()
        if _root is None and device_type == "cuda" and job is not None and not torch.cuda.is_initialized():
            torch.cuda.set_device(job[2])  # nobody has chosen one
        self._own = c10d.get_rank()
        self._groups = self._make_groups() if _groups is None else _groups

    def _make_groups(self):
        """a group for each dimension: this rank's of all that the others have too"""
        world = c10d._get_default_group()
        if self.ndim == 1 and len(self._ranks) == world.size():
            return [world]
        groups = []
        for dim in range(self.ndim):
            own = None
            for ranks in self._lines(dim):
                made = c10d.new_group(ranks)
                if self._own in ranks:
                    own = made
            groups.append(own)
        return groups

    def _lines(self, dim):
        """the ranks along a dimension, for all places of the others"""
        stride, size = _product(self._sizes[dim + 1:]), self._sizes[dim]
        starts = [i for i in range(len(self._ranks)) if i // stride % size == 0]
        return [[self._ranks[start + stride * k] for k in range(size)] for start in starts]

    @property
    def ndim(self):
        return len(self._sizes)

    @property
    def shape(self):
        return self._sizes

    @property
    def mesh(self):
        return torch.tensor(_nested(self._ranks, self._sizes))

    def size(self, mesh_dim=None):
        return _product(self._sizes) if mesh_dim is None else self._sizes[mesh_dim]

    def get_rank(self):
        return self._own

    def get_coordinate(self):
        if self._own not in self._ranks:
            return None
        place, coordinate = self._ranks.index(self._own), []
        for size in self._sizes[::-1]:
            coordinate.insert(0, place % size)
            place //= size
        return tuple(coordinate)

    def _dim(self, mesh_dim):
        if isinstance(mesh_dim, int):
            return mesh_dim
        if self.mesh_dim_names is None or mesh_dim not in self.mesh_dim_names:
            raise KeyError(
                f"Mesh dimension '{mesh_dim}' does not exist. Available mesh dimensions are: {self.mesh_dim_names}"
            )
        return self.mesh_dim_names.index(mesh_dim)

    def get_local_rank(self, mesh_dim=None):
        if self.ndim > 1 and mesh_dim is None:
            raise RuntimeError(
                f"Found the DeviceMesh have {self.ndim} dimensions. Optional kwarg `mesh_dim` needs to be specified "
                "when device_mesh.ndim > 1."
            )
        return self.get_coordinate()[0 if mesh_dim is None else self._dim(mesh_dim)]

    def get_group(self, mesh_dim=None):
        if self.ndim > 1 and mesh_dim is None:
            raise RuntimeError(
                f"Found the DeviceMesh have {self.ndim} dimensions. Optional kwarg `mesh_dim` needs to be specified "
                "when device_mesh.ndim > 1."
            )
        if isinstance(mesh_dim, str) and mesh_dim in self._root._flattened:
            return self._root._flattened[mesh_dim].get_group()
        return self._groups[0 if mesh_dim is None else self._dim(mesh_dim)]

    def get_all_groups(self):
        return [self.get_group(dim) for dim in range(self.ndim)]

    def __getitem__(self, mesh_dim_names):
        names = (mesh_dim_names,) if isinstance(mesh_dim_names, str) else tuple(mesh_dim_names)
        if self.mesh_dim_names is None:
            raise RuntimeError("Cannot slice a DeviceMesh without mesh_dim_names!")
        if names == self.mesh_dim_names:
            return self
        if len(names) == 1 and names[0] in self._root._flattened:
            return self._root._flattened[names[0]]
        return self._part([self._dim(name) for name in names], names)

    def _part(self, dims, names):
        """the mesh of some dimensions, at this rank's place in the others"""
        own = self.get_coordinate()
        strides = [_product(self._sizes[d + 1:]) for d in range(self.ndim)]
        start = sum([own[d] * strides[d] for d in range(self.ndim) if d not in dims])
        places = [start]
        for d in dims:
            places = [p + strides[d] * k for p in places for k in range(self._sizes[d])]
        return DeviceMesh(
            self.device_type, mesh_dim_names=names, _ranks=[self._ranks[p] for p in places],
            _sizes=[self._sizes[d] for d in dims], _groups=[self._groups[d] for d in dims], _root=self._root
        )

    def _flatten(self, mesh_dim_name=None, backend_override=None):
        name = "_".join(self.mesh_dim_names) if mesh_dim_name is None else mesh_dim_name
        if self.ndim == 1:
            return self
        if name not in self._root._flattened:
            made = None
            for ranks in self._siblings():
                group = c10d.new_group(ranks)
                if self._own in ranks:
                    made = DeviceMesh(
                        self.device_type, mesh_dim_names=(name,), _ranks=ranks, _sizes=[len(ranks)],
                        _groups=[group], _root=self._root
                    )
            self._root._flattened[name] = made
        return self._root._flattened[name]

    def _siblings(self):
        """the ranks of this part of the mesh, and of those beside it"""
        root = self._root
        dims = [root._dim(name) for name in self.mesh_dim_names]
        strides = [_product(root._sizes[d + 1:]) for d in range(root.ndim)]
        starts, inside = [0], [0]
        for d in range(root.ndim):
            steps = [strides[d] * k for k in range(root._sizes[d])]
            if d in dims:
                inside = [p + s for p in inside for s in steps]
            else:
                starts = [p + s for p in starts for s in steps]
        return [[root._ranks[start + p] for p in inside] for start in starts]

    @staticmethod
    def _concatenate(device_mesh_list):
        """parts of one mesh side by side: all their dimensions"""
        first = device_mesh_list[0]
        names = [name for mesh in device_mesh_list for name in mesh.mesh_dim_names or ()]
        if len(names) == sum([mesh.ndim for mesh in device_mesh_list]) and first._root.mesh_dim_names is not None:
            if all([name in first._root.mesh_dim_names for name in names]):
                return first._root[tuple(names)]
        ranks = sorted({r for mesh in device_mesh_list for r in mesh._ranks})
        return DeviceMesh(
            first.device_type, mesh_dim_names=names or None, _ranks=ranks,
            _sizes=[s for mesh in device_mesh_list for s in mesh._sizes],
            _groups=[g for mesh in device_mesh_list for g in mesh._groups], _root=first._root
        )

    @staticmethod
    def from_group(group, device_type, mesh=None, *, mesh_dim_names=None, backend_override=None):
        if isinstance(group, c10d.ProcessGroup):
            return DeviceMesh(
                device_type, mesh_dim_names=mesh_dim_names, _ranks=list(group._ranks), _sizes=[group.size()],
                _groups=[group]
            )
        return DeviceMesh(device_type, mesh, mesh_dim_names=mesh_dim_names, _groups=list(group))

    def __eq__(self, other):
        return self is other or (
            isinstance(other, DeviceMesh) and self._ranks == other._ranks and self._sizes == other._sizes
            and self.device_type == other.device_type and self.mesh_dim_names == other.mesh_dim_names
        )

    def __hash__(self):
        return hash((tuple(self._ranks), self._sizes, self.device_type, self.mesh_dim_names))

    def __repr__(self):
        sizes = self._sizes if self.mesh_dim_names is None else ", ".join(
            [f"{name}={size}" for name, size in zip(self.mesh_dim_names, self._sizes)]
        )
        return f"DeviceMesh(({sizes}), '{self.device_type}')"

    def __enter__(self):
        _current.append(self)
        return self

    def __exit__(self, *error):
        _current.pop()
        return False


_current = []


def init_device_mesh(device_type, mesh_shape, *, mesh_dim_names=None, backend_override=None):
    mesh_shape = tuple(mesh_shape)
    if mesh_dim_names is not None:
        if len(set(mesh_dim_names)) != len(mesh_dim_names):
            raise RuntimeError(
                "Each mesh_dim_name must be unique. Found repeated mesh_dim_name in mesh_dim_names "
                f"{mesh_dim_names}"
            )
        if len(mesh_shape) != len(mesh_dim_names):
            raise RuntimeError(
                "mesh_shape and mesh_dim_names should have same length! Found len(mesh_dim_names): "
                f"{len(mesh_dim_names)} and len(mesh_shape):{len(mesh_shape)}."
            )
    if not c10d.is_initialized():
        c10d.init_process_group()
    count = _product(mesh_shape)
    if count > c10d.get_world_size():
        raise RuntimeError(
            f"Mesh should not be bigger than default world size {c10d.get_world_size()}, but found {count} ranks!"
        )
    return DeviceMesh(
        device_type, mesh_dim_names=mesh_dim_names, _ranks=list(range(count)), _sizes=mesh_shape
    )
