import torch
import torch._C as _C
from torch.distributed._objects import _STORAGES, _int_size, _text_bytes

# How many bytes torch.save() writes into an object: pickle's opcodes of protocol 2, then what its archive puts around
# them and around storages. Source: torch.serialization._save; caffe2/serialize/inline_container.cc

_BATCH, _SMALL = 1000, 256  # of items; of memo numbers in one byte
_LOCAL, _FIELD, _CENTRAL, _FOOTER, _END = 30, 4, 46, 16, 98  # of a zip archive, in bytes
_ALIGNED = 64
_FIRST = ((".format_version", 1), (".storage_alignment", 2), ("byteorder", 6))
_LAST = (("version", 2), (".data/serialization_id", 40))


class _Pickled:
    def __init__(self):
        self._memo, self._made, self.storages = {}, 0, []  # storages: (tensor, its bytes)

    def _put(self, key=None):
        """the opcode that gives what was made a number"""
        if key is not None:
            self._memo[key] = self._made
        self._made += 1
        return 2 if self._made <= _SMALL else 5

    def _named(self, key, size):
        """a number, where there is one; else what makes it and gives it one"""
        if key in self._memo:
            return 2 if self._memo[key] < _SMALL else 5
        return size + self._put(key)

    def of(self, obj):
        if obj is None or isinstance(obj, bool):
            return 1
        if isinstance(obj, int):
            return _int_size(obj)
        if isinstance(obj, float):
            return 9
        if isinstance(obj, str):
            return self._named(("text", obj), 5 + _text_bytes(obj))
        if isinstance(obj, torch.Tensor):
            return self._of_tensor(obj)
        if isinstance(obj, tuple):
            return self._of_tuple(obj)
        if isinstance(obj, list):
            words = 1 if len(obj) == 1 else 2 * -(-len(obj) // _BATCH)
            return 1 + self._put() + words + sum([self.of(x) for x in obj])
        if isinstance(obj, dict):
            # After a batch that is full another begins.
            words = len(obj) if len(obj) < 2 else 2 * (len(obj) // _BATCH + 1)
            return 1 + self._put() + words + sum([self.of(k) + self.of(v) for k, v in obj.items()])
        _C.refuse(
            "consolidating an optimizer's state that holds an object of type " + type(obj).__name__ +
            " is not modelled", "save each rank's own states"
        )

    def _of_tuple(self, obj):
        if not obj:
            return 1
        if ("tuple", id(obj)) in self._memo:
            return self._named(("tuple", id(obj)), 0)
        size = sum([self.of(x) for x in obj]) + (2 if len(obj) > 3 else 1)
        return size + self._put(("tuple", id(obj)))

    def _of_global(self, module, name):
        return self._named(("global", module, name), len(module) + len(name) + 3)

    def _of_tensor(self, tensor):
        if ("tensor", id(tensor)) in self._memo:
            return self._named(("tensor", id(tensor)), 0)
        if tensor.dtype not in _STORAGES:
            _C.refuse("saving a tensor of this type between ranks is not modelled", "save each rank's own states")
        size = self._of_global("torch._utils", "_rebuild_tensor_v2") + 1
        size += self._of_storage(tensor) + _int_size(tensor.storage_offset())
        for numbers in (tuple(tensor.shape), tensor.stride()):
            size += self._of_numbers(numbers)
        size += 1 + self._of_global("collections", "OrderedDict") + 2 + self._put()
        size += 1 + self._put() + 1
        return size + self._put(("tensor", id(tensor)))

    def _of_numbers(self, numbers):
        size = sum([_int_size(x) for x in numbers]) + (2 if len(numbers) > 3 else 1)
        return size + self._put() if numbers else 1

    def _of_storage(self, tensor):
        """the five words that tell of one: each GPU's name is a text of its own"""
        for number, (other, _) in enumerate(self.storages):
            if _C.same_storage(other, tensor):
                break
        else:
            number = len(self.storages)
            self.storages.append((tensor, tensor.untyped_storage().nbytes()))
        size = 1 + self.of("storage") + self._of_global("torch", _STORAGES[tensor.dtype])
        size += self._named(("storage", number), 5 + len(str(number)))
        size += 5 + len("cuda:0") + self._put() if tensor.device.type != "cpu" else self.of("cpu")
        size += _int_size(tensor.untyped_storage().nbytes() // tensor.element_size()) + 1
        return size + self._put() + 1


def archive_bytes(obj):
    pickled = _Pickled()
    size = pickled.of(obj)
    storages = [(f"data/{number}", nbytes) for number, (_, nbytes) in enumerate(pickled.storages)]
    at, names = 0, 0
    for name, nbytes in [("data.pkl", 2 + size + 1), *_FIRST, *storages, *_LAST]:
        name = "archive/" + name
        start = at + _LOCAL + len(name) + _FIELD  # where its bytes begin: the field before them is made longer
        at = -(-start // _ALIGNED) * _ALIGNED + nbytes + _FOOTER
        names += _CENTRAL + len(name)
    return at + names + _END
