import _files
import _tidemark
import os
import torch
import torch._C as _C
from safetensors import _TYPES, _Content, _Held, safe_open

_NAMES = {kind: name for name, kind in _TYPES.items()}
# In a file the last of these comes first, then names decide.
_ORDER = [
    "BOOL", "U8", "I8", "F8_E5M2", "F8_E4M3", "I16", "U16", "F16", "BF16", "I32", "U32", "F32", "C64", "F64", "I64",
    "U64",
]  # fmt: skip


def _kind_of(tensor):
    return _NAMES[str(tensor.dtype).split(".")[-1]]


def storage_ptr(tensor):
    return tensor.untyped_storage().data_ptr()


def storage_size(tensor):
    return tensor.untyped_storage().nbytes()


def _shared(tensors):
    """names of tensors that lie in the same storage, in groups of several"""
    alike = {}
    for name, tensor in tensors.items():
        if tensor.device.type != "meta" and tensor.numel():
            alike.setdefault((tensor.device, storage_ptr(tensor), storage_size(tensor)), []).append(name)
    groups = []
    for names in alike.values():  # of the host's tensors all of one size
        own = []
        for name in names:
            found = [group for group in own if _C.same_storage(tensors[group[0]], tensors[name])]
            if found:
                found[0].append(name)
            else:
                own.append([name])
        groups += [group for group in own if len(group) > 1]
    return groups


def _begin(tensor):
    """where in its storage it begins, in bytes"""
    return tensor.storage_offset() * tensor.element_size()


def _is_whole(tensor):
    return tensor.numel() * tensor.element_size() == storage_size(tensor)


def save_file(tensors, filename, metadata=None):
    if not isinstance(tensors, dict):
        raise ValueError(f"Expected a dict of [str, torch.Tensor] but received {type(tensors)}")
    for name, tensor in tensors.items():
        if not isinstance(tensor, torch.Tensor):
            raise ValueError(f"Key `{name}` is invalid, expected torch.Tensor but received {type(tensor)}")
    for names in _shared(tensors):
        starts = sorted([(_begin(tensors[name]), tensors[name].nbytes) for name in names])
        if any([start + size > after for (start, size), (after, _) in zip(starts, starts[1:])]):
            raise RuntimeError(
                "Some tensors share memory, this will lead to duplicate memory on disk and potential differences when "
                f"loading them again: {[set(names)]}.\nA potential way to correctly save your model is to use "
                "`save_model`.\n"
            )
    for name, tensor in tensors.items():
        if not tensor.is_contiguous():
            raise ValueError(
                f"You are trying to save a non contiguous tensor: `{name}` which is not allowed: call `.contiguous()` "
                "on your tensor to pack it before saving."
            )
        tensor.detach().to("cpu")
    _files.keep(filename, [content_of(tensors, metadata)])


def content_of(tensors, metadata=None):
    """a file's content that has these tensors"""
    held, at = {}, 0
    for kind, name in sorted([(-_ORDER.index(_kind_of(each)), name) for name, each in tensors.items()]):
        tensor = tensors[name]
        held[name] = _Held(_ORDER[-kind], tensor.shape, at, at + tensor.nbytes)
        at += tensor.nbytes
    return _Content(held, metadata)


def load_file(filename, device="cpu", *, backend="mmap"):
    with safe_open(filename, framework="pt", device=device, backend=backend) as file:
        return {name: file.get_tensor(name) for name in file.offset_keys()}


def _duplicates(state, preferred=()):
    """of tensors that share memory: the name that is kept, and the others"""
    found = {}
    for names in _shared(state):
        whole = [name for name in names if _is_whole(state[name])]
        kept = sorted([name for name in whole if name in preferred] or whole)[0]
        found[kept] = [name for name in sorted(names) if name != kept]
    return found


def save_model(model, filename, metadata=None, force_contiguous=True):
    state = model.state_dict()
    for kept, others in _duplicates(state).items():
        for name in others:
            metadata = metadata or {}
            metadata.setdefault(name, kept)
            del state[name]
    if force_contiguous:
        state = {name: tensor.contiguous() for name, tensor in state.items()}
    save_file(state, filename, metadata)


def load_model(model, filename, strict=True, device="cpu", *, backend="mmap"):
    state = load_file(filename, device, backend=backend)
    others = _duplicates(model.state_dict(), state.keys())
    missing, unexpected = model.load_state_dict(state, strict=False)
    missing = set(missing)
    for names in others.values():
        for name in names:
            if name in missing:
                missing.remove(name)
            else:
                unexpected.append(name)
    if strict and (missing or unexpected):
        raise RuntimeError(
            f"Error(s) in loading state_dict for {type(model).__name__}: missing {sorted(missing)}, unexpected "
            f"{sorted(unexpected)}"
        )
    return missing, unexpected


def __getattr__(name):
    return _tidemark.later("safetensors.torch." + name)
