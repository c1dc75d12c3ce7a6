import _files
import torch
import torch._C as _C
from collections import OrderedDict, defaultdict


# What save() is given is kept for the length of the run, by path or in the object that it was written to; load() makes
# it anew.


class _KeptStorage:
    def __init__(self, tensor):
        self.tensor = tensor
        self.items = torch._C.storage_bytes(tensor) // tensor.element_size()
        self.dtype, self.device = tensor.dtype, tensor.device


class _KeptTensor:
    def __init__(self, tensor, storages):
        for storage in storages:
            if _C.same_storage(storage.tensor, tensor):
                self.storage = storage
                break
        else:
            self.storage = _KeptStorage(tensor)
            storages.append(self.storage)
        self.size, self.stride, self.offset = tuple(tensor.shape), tensor.stride(), tensor.storage_offset()
        self.requires_grad, self.is_parameter = tensor.requires_grad, isinstance(tensor, torch.nn.Parameter)


class _Kept:
    """an object as save() found it"""

    def __init__(self, obj):
        storages = []
        self.root = self._keep(obj, storages)
        for storage in storages:
            storage.tensor = None

    def _keep(self, obj, storages):
        if isinstance(obj, torch.Tensor):
            return _KeptTensor(obj, storages)
        if isinstance(obj, dict):
            return _KeptDict(obj, [(k, self._keep(v, storages)) for k, v in obj.items()])
        if type(obj) in (list, tuple, set) or isinstance(obj, torch.Size):
            return type(obj)([self._keep(v, storages) for v in obj])
        if obj is None or isinstance(obj, (type(1), type(1.0), str, torch.dtype, torch.device)):
            return obj
        return _KeptOther(obj)


class _KeptDict:
    def __init__(self, obj, items):
        self.kind, self.items = type(obj), items
        self.metadata = getattr(obj, "_metadata", None)


class _KeptOther:
    def __init__(self, obj):
        self.kind = type(obj).__name__


def save(
    obj, f, pickle_module=None, pickle_protocol=2, _use_new_zipfile_serialization=True, _disable_byteorder_record=False
):
    kept = _Kept(obj)
    if isinstance(f, _files.File):
        f._content.append(kept)
        return
    folder = _files.text_of(f)
    if "/" in folder and not _files.is_folder(folder[:folder.rindex("/")] or "/"):
        raise RuntimeError(f"Parent directory {folder[:folder.rindex('/')]} does not exist.")
    _files.keep(f, [kept])


def _place(storage, map_location):
    """where a storage goes"""
    if map_location is None:
        return storage.device
    if isinstance(map_location, dict):
        return torch.device(map_location.get(str(storage.device), str(storage.device)))
    if callable(map_location) and not isinstance(map_location, (str, torch.device)):
        _C.refuse("torch.load(map_location=) of a function is not modelled", "name the device")
    return torch.device(map_location)


class _Loader:
    def __init__(self, map_location):
        self.map_location, self.made = map_location, []

    def tensor(self, kept):
        for storage, base in self.made:
            if storage is kept.storage:
                break
        else:
            storage = kept.storage
            base = torch.empty(storage.items, dtype=storage.dtype, device=_place(storage, self.map_location))
            self.made.append((storage, base))
        out = base.as_strided(kept.size, kept.stride, kept.offset).detach()
        if kept.is_parameter:
            return torch.nn.Parameter(out, kept.requires_grad)
        return out.requires_grad_(True) if kept.requires_grad else out

    def make(self, kept):
        if isinstance(kept, _KeptTensor):
            return self.tensor(kept)
        if isinstance(kept, _KeptDict):
            out = kept.kind() if kept.kind in (dict, OrderedDict) else defaultdict(None)
            for key, value in kept.items:
                out[key] = self.make(value)
            if kept.metadata is not None:
                out._metadata = kept.metadata
            return out
        if isinstance(kept, _KeptOther):
            _C.refuse(f"torch.load() of a {kept.kind} is not modelled", "save its state_dict() and load that")
        if type(kept) in (list, tuple, set) or isinstance(kept, torch.Size):
            return type(kept)([self.make(v) for v in kept])
        return kept


@torch.no_grad()
def load(f, map_location=None, pickle_module=None, *, weights_only=None, mmap=None, **options):
    if isinstance(f, _files.File):
        content = f._content
    elif _files.is_file(f):
        content = _files.content_of(f)
    else:
        _C.refuse("torch.load cannot read files here", "make the tensors with torch.zeros of their shapes")
    kept = [each for each in content if isinstance(each, _Kept)]
    if not kept:
        raise EOFError("Ran out of input")
    return _Loader(map_location).make(kept[-1].root)


_safe_globals = []


def add_safe_globals(safe_globals):
    _safe_globals.extend([each for each in safe_globals if each not in _safe_globals])


def get_safe_globals():
    return list(_safe_globals)


def clear_safe_globals():
    _safe_globals.clear()


def get_unsafe_globals_in_checkpoint(f):
    return []


class safe_globals:
    def __init__(self, safe_globals):
        self._given = safe_globals

    def __enter__(self):
        self._before = get_safe_globals()
        add_safe_globals(self._given)

    def __exit__(self, *error):
        _safe_globals[:] = self._before
