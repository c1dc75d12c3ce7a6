import copy
import pickle
from collections import Counter, OrderedDict, defaultdict

import _files
import torch
import torch._C as _C


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


class _KeptSparse:
    """a sparse tensor: its indices and values, each with a storage. Source: torch/_tensor.py: _reduce_ex_internal"""

    def __init__(self, tensor, storages):
        self.indices, self.values = [_KeptTensor(part, storages) for part in (tensor._indices(), tensor._values())]
        self.size = tuple(tensor.shape)


def _kept_tensor(tensor, storages):
    return (_KeptSparse if tensor.is_sparse else _KeptTensor)(tensor, storages)


class _Kept:
    """an object as save() found it"""

    def __init__(self, obj):
        storages = []
        self.kinds = {}
        self.root = self._keep(obj, storages)
        for storage in storages:
            storage.tensor = None

    def _keep(self, obj, storages):
        if isinstance(obj, torch.Tensor):
            return _kept_tensor(obj, storages)
        if isinstance(obj, dict):
            return _KeptDict(obj, [(k, self._keep(v, storages)) for k, v in obj.items()])
        if type(obj) in (list, tuple, set) or isinstance(obj, torch.Size):
            return type(obj)([self._keep(v, storages) for v in obj])
        if obj is None or isinstance(obj, (type(1), type(1.0), str, torch.dtype, torch.device)):
            return obj
        return _KeptObject(obj, storages, self.kinds)


class _KeptDict:
    def __init__(self, obj, items):
        self.kind, self.items = type(obj), items
        self.metadata = getattr(obj, "_metadata", None)


def _parts(obj):
    """what an object holds, in the order in which it is pickled"""
    if isinstance(obj, torch.nn.Module):
        held = (obj._parameters, obj._buffers, obj._modules, vars(obj))
        return [each for part in held for each in part.values()]
    if isinstance(obj, dict):
        return [each for item in obj.items() for each in item]
    if isinstance(obj, (list, tuple, set, frozenset)):
        return list(obj)
    is_plain = isinstance(obj, type) or type(obj).__module__ == "builtins"
    return list(vars(obj).values()) if not is_plain and hasattr(obj, "__dict__") else []


class _KeptObject:
    """An object of a class: a copy of it, in which tensors without memory stand for its own. Modules are such."""

    def __init__(self, obj, storages, kinds):
        self.tensors, instead, seen = [], {}, {}
        waiting = [obj]
        while waiting:
            each = waiting.pop()
            if id(each) in seen or each is None or isinstance(each, (int, float, str, type)):
                continue
            seen[id(each)] = each
            if isinstance(each, torch.Tensor):
                stand_in = torch.empty_like(each, device="meta")
                if isinstance(each, torch.nn.Parameter):
                    stand_in = torch.nn.Parameter(stand_in, each.requires_grad)
                instead[id(each)] = stand_in
                self.tensors.append((stand_in, _kept_tensor(each, storages)))
                continue
            if type(each).__module__ != "builtins":
                kinds[type(each)] = True
            waiting.extend(reversed(_parts(each)))
        self.form = copy.deepcopy(obj, instead)

    def made(self, loader):
        return copy.deepcopy(self.form, {id(stand_in): loader.tensor(kept) for stand_in, kept in self.tensors})


def save(
    obj, f, pickle_module=None, pickle_protocol=2, _use_new_zipfile_serialization=True, _disable_byteorder_record=False
):
    kept = _Kept(obj)
    if isinstance(f, _files.File):
        f._content.append(kept)
        return
    folder = _files.text_of(f)
    if folder == "/dev/null":
        return
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
        place = map_location(_ReadStorage("cpu"), str(storage.device))
        return storage.device if place is None else place.device
    return torch.device(map_location)


class _ReadStorage:
    """what a function that says where storages go is given: the bytes, still on the host"""

    def __init__(self, device):
        self.device = torch.device(device)

    def cuda(self, device=None, non_blocking=False):
        if isinstance(device, (torch.device, str)):
            return _ReadStorage(device)
        return _ReadStorage(f"cuda:{torch.cuda.current_device() if device is None else device}")

    def cpu(self):
        return _ReadStorage("cpu")


_allowed_kinds = (OrderedDict, Counter)


def _check_kinds(kinds):
    """what a file of weights only may not have: Source: torch/_weights_only_unpickler.py"""
    named = [each if not isinstance(each, tuple) else each[0] for each in _safe_globals]
    for kind in kinds:
        if kind in _allowed_kinds or kind in named or kind.__module__.split(".")[0] == "numpy":
            continue
        name = f"{kind.__module__}.{kind.__qualname__}"
        raise pickle.UnpicklingError(
            "Weights only load failed. This file can still be loaded, to do so you have two options, do those "
            "steps only if you trust the source of the checkpoint. \n\t(1) In PyTorch 2.6, we changed the default"
            " value of the `weights_only` argument in `torch.load` from `False` to `True`. Re-running "
            "`torch.load` with `weights_only` set to `False` will likely succeed, but it can result in arbitrary "
            "code execution. Do it only if you got the file from a trusted source.\n\t(2) Alternatively, to load "
            "with `weights_only=True` please check the recommended steps in the following error "
            "message.\n\tWeightsUnpickler error: Unsupported global: GLOBAL "
            f"{name} was not an allowed global by default. Please use `torch.serialization.add_safe_globals("
            f"[{kind.__name__}])` or the `torch.serialization.safe_globals([{kind.__name__}])` context manager to "
            "allowlist this global if you trust this class/function."
        )


def _loads_weights_only():
    """what load() does unless it is asked, from 2.6 on"""
    return tuple([int(part) for part in torch.__version__.split(".")[:2]]) >= (2, 6)


class _Loader:
    def __init__(self, map_location):
        self.map_location, self.made = map_location, []

    def tensor(self, kept):
        if isinstance(kept, _KeptSparse):
            return torch.sparse_coo_tensor(
                self.tensor(kept.indices), self.tensor(kept.values), kept.size, check_invariants=False
            )
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
        if isinstance(kept, (_KeptTensor, _KeptSparse)):
            return self.tensor(kept)
        if isinstance(kept, _KeptDict):
            out = kept.kind() if kept.kind in (dict, OrderedDict) else defaultdict(None)
            for key, value in kept.items:
                out[key] = self.make(value)
            if kept.metadata is not None:
                out._metadata = kept.metadata
            return out
        if isinstance(kept, _KeptObject):
            return kept.made(self)
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
    if weights_only or (weights_only is None and _loads_weights_only()):
        _check_kinds(kept[-1].kinds)
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
