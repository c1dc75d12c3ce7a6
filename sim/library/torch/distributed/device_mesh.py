import torch
import torch._C as _C
from torch.distributed import distributed_c10d as c10d
from torch.distributed._nccl import Ranks


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
        _rank=None, _ranks=None, _sizes=None, _groups=None, _root=None, _dims=None, _coordinate=None
    ):
        self.device_type = device_type
        self._ranks = _flat(mesh) if _ranks is None else _ranks
        self._sizes = _shape(mesh) if _sizes is None else tuple(_sizes)
        self.mesh_dim_names = None if mesh_dim_names is None else tuple(mesh_dim_names)
        self._root = self if _root is None else _root
        self._dims = tuple(range(len(self._sizes))) if _dims is None else tuple(_dims)
        self._flattened, self._parts = {}, {}
        if not c10d.is_initialized():
            c10d.init_process_group()
        job = _C.rank_in_job()
        if _root is None and device_type == "cuda" and job is not None and not torch.cuda.is_initialized():
            torch.cuda.set_device(job[2])  # nobody has chosen one
        self._own = c10d.get_rank()
        self._coordinate = self._find_coordinate() if _coordinate is None else tuple(_coordinate)
        self._groups = self._make_groups() if _groups is None else _groups

    def _find_coordinate(self):
        """where this rank is, None: nowhere"""
        if isinstance(self._ranks, range):
            if not self._own < len(self._ranks):
                return None
            place = self._own
        elif self._own in self._ranks:
            place = self._ranks.index(self._own)
        else:
            return None
        strides = self._strides()
        return tuple([place // stride % size for stride, size in zip(strides, self._sizes)])

    def _strides(self):
        return [_product(self._sizes[d + 1:]) for d in range(self.ndim)]

    def _make_groups(self):
        """this rank's group of each dimension. Others make theirs, of which this one has nothing"""
        if self._coordinate is None:
            return [None] * self.ndim
        return [self._group_of(self._line([dim]), self._coordinate[dim]) for dim in range(self.ndim)]

    @staticmethod
    def _group_of(ranks, place):
        """the group of all for a line of all ranks, else a new one"""
        world = c10d._get_default_group()
        return world if len(ranks) == world.size() else c10d._own_group(ranks, place)

    def _line(self, dims):
        """the ranks that differ from this one in some dimensions alone"""

        def places():
            strides, places = self._strides(), [0]
            start = sum([c * s for d, (c, s) in enumerate(zip(self._coordinate, strides)) if d not in dims])
            for d in dims:
                places = [p + strides[d] * k for p in places for k in range(self._sizes[d])]
            return [start + place for place in places]

        def make():
            # Of all ranks in order, each is its own number: one that other ranks have otherwise parts none.
            is_plain = isinstance(self._ranks, range)
            return [place if is_plain else self._ranks[place] for place in places()]

        def plain():
            return places() if self._is_in_order() else None

        return Ranks(_product([self._sizes[d] for d in dims]), make, plain)

    def _is_in_order(self):
        if isinstance(self._ranks, range):
            return True
        return isinstance(self._ranks, list) and self._ranks == list(range(len(self._ranks)))

    @property
    def ndim(self):
        return len(self._sizes)

    @property
    def shape(self):
        return self._sizes

    @property
    def mesh(self):
        return torch.tensor(_nested(list(self._ranks), self._sizes))

    def size(self, mesh_dim=None):
        return _product(self._sizes) if mesh_dim is None else self._sizes[mesh_dim]

    def get_rank(self):
        return self._own

    def get_coordinate(self):
        return self._coordinate

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
        return self._part(names)

    def _part(self, names):
        """the mesh of some dimensions, of the whole mesh also of flattened ones, at this rank's place in the others"""
        if names not in self._parts:
            whole, dims, own = [], [], []
            for name in names:
                flat = self._flattened.get(name) if self._root is self else None
                mesh, d = (self, self._dim(name)) if flat is None else (flat, 0)
                whole.append((mesh._sizes[d], mesh._groups[d], mesh._coordinate[d]))
                own.append(mesh._dims[d])
                dims += [d] if flat is None else own[-1][1:]
            sizes, groups, places = zip(*whole)
            self._parts[names] = DeviceMesh(
                self.device_type, mesh_dim_names=names, _ranks=self._line(dims), _sizes=sizes, _groups=list(groups),
                _root=self._root, _dims=own, _coordinate=places
            )
        return self._parts[names]

    def _flatten(self, mesh_dim_name=None, backend_override=None):
        name = "_".join(self.mesh_dim_names) if mesh_dim_name is None else mesh_dim_name
        if self.ndim == 1 and name in self.mesh_dim_names:
            return self
        flattened = self._root._flattened
        if name in (self._root.mesh_dim_names or ()):
            raise ValueError(f"{name} already exists for submesh of the {self._root}. ")
        if name not in flattened:
            place = sum([c * s for c, s in zip(self._coordinate, self._strides())])
            ranks = self._ranks if self._root is self else self._root._line(self._dims)
            flattened[name] = DeviceMesh(
                self.device_type, mesh_dim_names=(name,), _ranks=ranks, _sizes=[len(ranks)],
                _groups=[self._group_of(ranks, place)], _root=self._root, _dims=[("flat", *self._dims)],
                _coordinate=[place]
            )
        return flattened[name]

    @staticmethod
    def _concatenate(device_mesh_list):
        """parts of one mesh side by side: all their dimensions"""
        first = device_mesh_list[0]
        names = [name for mesh in device_mesh_list for name in mesh.mesh_dim_names or ()]
        if len(names) == sum([mesh.ndim for mesh in device_mesh_list]) and first._root.mesh_dim_names is not None:
            known = (*first._root.mesh_dim_names, *first._root._flattened)
            if all([name in known for name in names]):
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
                device_type, mesh_dim_names=mesh_dim_names, _ranks=group._ranks, _sizes=[group.size()],
                _groups=[group], _coordinate=[group.rank()]
            )
        return DeviceMesh(device_type, mesh, mesh_dim_names=mesh_dim_names, _groups=list(group))

    def __eq__(self, other):
        if self is other:
            return True
        if not isinstance(other, DeviceMesh) or self._sizes != other._sizes:
            return False
        if self.device_type != other.device_type or self.mesh_dim_names != other.mesh_dim_names:
            return False
        return (self._root is other._root and self._dims == other._dims) or list(self._ranks) == list(other._ranks)

    def __hash__(self):
        return hash((self._sizes, self.device_type, self.mesh_dim_names))

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
        device_type, mesh_dim_names=mesh_dim_names, _ranks=range(count), _sizes=mesh_shape
    )
