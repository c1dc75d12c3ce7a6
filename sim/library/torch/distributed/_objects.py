import enum
import torch
import torch._C as _C
from torch.distributed import distributed_c10d as c10d
from torch.distributed._exchanges import exchanged, is_of_a_program, received_from, sent_to

_BATCH, _FRAME, _SMALLEST_FRAME = 1000, 64 * 1024, 4  # of items, of bytes
_SAVED_NUMBER = 239  # bytes of torch.save()'s older format around a storage's class and its one number
_STORAGES = {
    torch.float32: "FloatStorage", torch.float64: "DoubleStorage", torch.float16: "HalfStorage",
    torch.bfloat16: "BFloat16Storage", torch.int64: "LongStorage", torch.int32: "IntStorage",
    torch.int16: "ShortStorage", torch.int8: "CharStorage", torch.uint8: "ByteStorage", torch.bool: "BoolStorage",
}


class _TensorInfo:
    """what is told of a tensor before it is sent"""

    def __init__(self, size, dtype):
        self.size, self.dtype = size, dtype


class _Pickled:
    """how many bytes pickle makes of an object, by the opcodes of its protocol 4"""

    def __init__(self):
        # Numbers of what was met; how many there are, those of no name among them; what must live as long as its id.
        self.memo, self.made, self.kept = {}, 0, []
        self.outside = []  # sizes of what is too large for a frame, and stands between two

    def size(self, obj):
        payload = self.of(obj) + 1
        frames = max([-(-(payload - sum(self.outside)) // _FRAME), len(self.outside) + 1])
        return 2 + payload + (9 * frames if payload >= _SMALLEST_FRAME else 0)

    def remembered(self, key, size):
        """what was met before is named by its number; else it gets one"""
        if key in self.memo:
            return 2 if self.memo[key] < 256 else 5
        self.memo[key] = self.made
        self.made += 1
        return size() + 1

    def unnamed(self, count):
        """as many that nothing refers to later"""
        self.made += count
        return count

    def of(self, obj):
        if obj is None or isinstance(obj, bool):
            return 1
        if isinstance(obj, int):
            return _int_size(obj)
        if isinstance(obj, float):
            return 9
        if type(obj).__name__ in ("str", "bytes"):
            length = _text_bytes(obj) if isinstance(obj, str) else len(obj)
            return self.remembered((type(obj).__name__, obj), lambda: length + (2 if length < 256 else 5))
        if isinstance(obj, _TensorInfo):
            made_of = self.of_global("torch.distributed._state_dict_utils", "_TensorInfo", "class")
            return made_of + self.of(obj.size) + self.of(obj.dtype) + 2 + self.unnamed(2)
        if isinstance(obj, torch.Size):  # a call of it with a tuple, in a tuple
            return self.of_global("torch", "Size", "class") + self.of_tuple(tuple(obj)) + 2 + self.unnamed(2)
        if isinstance(obj, torch.dtype):
            return self.of_global("torch", str(obj)[len("torch."):], "constant")
        if isinstance(obj, torch.Tensor):
            return self.of_tensor(obj)
        if hasattr(obj, "_pickled"):
            module, name, made_of, state = obj._pickled()
            self.kept.append(state)
            size = self.of_global(module, name, "class") + self.of_tuple(made_of) + 1 + self.unnamed(1)
            return size if state is None else size + self.of(state) + 1
        if is_of_a_program(type(obj)):
            return self.of_instance(obj)
        if isinstance(obj, tuple):
            return self.of_tuple(obj)
        if isinstance(obj, dict):
            return self.remembered(id(obj), lambda: 1) + self.in_batches(
                [self.of(k) + self.of(v) for k, v in obj.items()]
            )
        if isinstance(obj, list):
            return self.remembered(id(obj), lambda: 1) + self.in_batches([self.of(x) for x in obj])
        if type(obj).__name__ in ("set", "frozenset"):
            return self.remembered(id(obj), lambda: 1) + 2 * -(-len(obj) // _BATCH) + sum([self.of(x) for x in obj])
        _C.refuse(
            "sending an object of type " + type(obj).__name__ + " between ranks is not modelled",
            "send numbers, texts, lists, tuples, dicts",
        )

    def of_instance(self, obj):
        """one of a class of the program's: class, what makes it anew, attributes. Source: object.__reduce_ex__"""
        if ("object", id(obj)) in self.memo:
            return self.remembered(("object", id(obj)), None)
        cls = type(obj)
        size = self.of_global(cls.__module__, cls.__qualname__, "class")
        self.kept.append(obj)
        if isinstance(obj, enum.Enum):  # a call of the class with the value
            size += self.of_tuple((obj.value,)) + 1 + self.unnamed(1)
            self.memo["object", id(obj)] = self.made - 1
            return size
        size += self.of_tuple(tuple(obj) if isinstance(obj, tuple) else ()) + 1 + self.unnamed(1)
        self.memo["object", id(obj)] = self.made - 1
        state = getattr(obj, "__dict__", None)
        return size + self.of(state) + 1 if state else size

    def of_global(self, module, name, kind):
        """a class or constant: two texts and a word; classes and constants have other objects for a module's name"""
        if ("global", module, name) in self.memo:
            return self.remembered(("global", module, name), lambda: 0)
        size = self.remembered(("module", module, kind), lambda: len(module) + 2) + self.of(name) + 1
        return size + self.remembered(("global", module, name), lambda: 0)

    def of_tensor(self, tensor):
        """one on the host: a call with what torch.save() makes of its storage, which is told by its address, of 14
        digits"""
        if tensor.is_meta:
            return self.of_meta(tensor)
        if tensor.is_cuda or tensor.dtype not in _STORAGES:
            _C.refuse("sending this tensor in an object is not modelled", "send it by itself, or its .cpu()")
        if ("object", id(tensor)) in self.memo:
            return self.remembered(("object", id(tensor)), None)
        count = tensor.untyped_storage().nbytes() // tensor.element_size()
        stored = _SAVED_NUMBER + len(_STORAGES[tensor.dtype]) + count * tensor.element_size() + _int_size(count) - 2
        if stored >= _FRAME:
            self.outside.append(stored + 5)
        size = self.of_global("torch._utils", "_rebuild_tensor_v2", "function") + 1
        size += self.of_global("torch.storage", "_load_from_bytes", "function")
        size += stored + (2 if stored < 256 else 5) + self.unnamed(1) + 2 + self.unnamed(2)
        size += _int_size(tensor.storage_offset()) + self.of_tuple(tuple(tensor.shape)) + self.of_tuple(tensor.stride())
        size += 1 + self.of_global("collections", "OrderedDict", "class") + 2 + self.unnamed(1)
        size += 2 + self.unnamed(2)
        self.memo["object", id(tensor)] = self.made - 1
        self.kept.append(tensor)
        return size

    def of_meta(self, tensor):
        """one without memory: a call with its type, sizes, strides, and whether it wants a gradient"""
        if ("object", id(tensor)) in self.memo:
            return self.remembered(("object", id(tensor)), None)
        size = self.of_global("torch._utils", "_rebuild_meta_tensor_no_storage", "function")
        told = (tensor.dtype, tuple(tensor.shape), tensor.stride(), tensor.requires_grad)
        size += self.of_tuple(told) + 1 + self.unnamed(1)
        self.memo["object", id(tensor)] = self.made - 1
        self.kept.append(tensor)
        return size

    def of_tuple(self, obj):
        if not obj:
            return 1
        return sum([self.of(x) for x in obj]) + (2 if len(obj) > 3 else 1) + self.unnamed(1)

    def in_batches(self, sizes):
        """a mark before and a word behind each batch; of a single item only the word"""
        words = 0
        for start in range(0, len(sizes), _BATCH):
            words += 1 if len(sizes) - start == 1 else 2
        return sum(sizes) + words


def _text_bytes(text):
    """in UTF-8"""
    return sum([1 if c < "\x80" else 2 if c < "\u0800" else 3 if c < "\U00010000" else 4 for c in text])


def _int_size(value):
    if 0 <= value < 256:
        return 2
    if 0 <= value < 65536:
        return 3
    if -(1 << 31) <= value < 1 << 31:
        return 5
    magnitude = value if value >= 0 else -value - 1
    return 2 + len(bin(magnitude)) // 8 + (1 if (len(bin(magnitude)) - 2) % 8 >= 6 else 0)


def _object_to_tensor(obj, device, group=None):
    byte_tensor = torch.empty(_Pickled().size(obj), dtype=torch.uint8).to(device)
    local_size = torch.LongTensor([byte_tensor.numel()]).to(device)
    return byte_tensor, local_size


def _device_of(group):
    backend = c10d._group(group)._backend
    if "nccl" in backend and "gloo" not in backend:
        return torch.device("cuda", torch.cuda.current_device())
    return torch.device("cpu")


def _gathered_sizes(obj, group):
    """(this rank's object as bytes, everyone's sizes, the largest): other ranks' are taken to have this one's size"""
    device = _device_of(group)
    input_tensor, local_size = _object_to_tensor(obj, device, group)
    group_size = c10d.get_world_size(group)
    sizes = torch.zeros(group_size, dtype=torch.long, device=device)
    object_size_list = [sizes[i].unsqueeze(dim=0) for i in range(group_size)]
    c10d._group(group).allgather(object_size_list, local_size, False)
    largest = object_size_list[0]
    for other in object_size_list[1:]:
        other > largest  # the largest: a number of the device is compared, then read
    return input_tensor, local_size, object_size_list, input_tensor.numel()


def all_gather_object(object_list, obj, group=None):
    if c10d._is_outside(group, "all_gather_object"):
        return
    input_tensor, local_size, object_size_list, size = _gathered_sizes(obj, group)
    whole = torch.empty(size * len(object_size_list), dtype=torch.uint8, device=input_tensor.device)
    output_tensors = [whole[size * i:size * (i + 1)] for i in range(len(object_size_list))]
    c10d.all_gather(output_tensors, input_tensor, group=group)
    for i, sent in enumerate(exchanged(c10d._group(group), obj, range(len(output_tensors)))):
        object_list[i] = sent
    del input_tensor, local_size, whole, output_tensors, object_size_list


def gather_object(obj, object_gather_list=None, dst=None, group=None, group_dst=None):
    if c10d._is_outside(group, "gather_object"):
        return
    group = c10d._group(group)
    root = c10d._index_in(group, dst, group_dst)
    is_root = c10d._check_list("gather_object", group, object_gather_list, root)
    input_tensor, local_size, object_size_list, size = _gathered_sizes(obj, group)
    output_tensors = None
    if is_root:
        whole = torch.empty(size * group.size(), dtype=torch.uint8, device=input_tensor.device)
        output_tensors = [whole[size * i:size * (i + 1)] for i in range(group.size())]
    c10d.gather(input_tensor, output_tensors, group_dst=root, group=group)
    sent = exchanged(group, obj, range(group.size()) if is_root else [])
    if is_root:
        for i in range(group.size()):
            object_gather_list[i] = sent[i]
        del input_tensor, local_size, whole, output_tensors, object_size_list


def broadcast_object_list(object_list, src=None, group=None, device=None, group_src=None):
    if c10d._is_outside(group, "broadcast_object_list"):
        return
    group = c10d._group(group)
    root = c10d._index_in(group, src, group_src)
    device = device or _device_of(group)
    if group.rank() == root:
        tensor_list, size_list = zip(*[_object_to_tensor(obj, device, group) for obj in object_list])
        object_sizes_tensor = torch.cat(size_list)
    else:
        object_sizes_tensor = torch.empty(len(object_list), dtype=torch.long, device=device)
    c10d.broadcast(object_sizes_tensor, group_src=root, group=group)
    if group.rank() == root:
        object_tensor = tensor_list[0] if len(tensor_list) == 1 else torch.cat(tensor_list)
    else:
        torch.sum(object_sizes_tensor)
        total = sum([_Pickled().size(obj) for obj in object_list])
        object_tensor = torch.empty(total, dtype=torch.uint8, device=device)
    # No numbers that a program reads, and on other ranks as many as their own objects have: it is not sent as such.
    group._run([object_tensor], [object_tensor], c10d._is_asynchronous(group, False), kind="broadcast")
    if group.rank() != root:
        _taken_apart(object_tensor, object_sizes_tensor)
    sent = exchanged(group, object_list, [root])[0]
    if group.rank() != root:
        for i in range(len(object_list)):
            object_list[i] = sent[i]


def _largest(numbers):
    """numbers of the device are compared, then read"""
    found = numbers[0]
    for other in numbers[1:]:
        other > found
    return found


def scatter_object_list(
    scatter_object_output_list, scatter_object_input_list=None, src=None, group=None, group_src=None
):
    if c10d._is_outside(group, "scatter_object_list"):
        return
    group = c10d._group(group)
    root = c10d._index_in(group, src, group_src)
    device = _device_of(group)
    given = scatter_object_input_list
    tensor_list = tensor_sizes = None
    if group.rank() == root:
        tensor_list, tensor_sizes = zip(*[_object_to_tensor(obj, device, group) for obj in given])
        size = max([t.numel() for t in tensor_list])
        largest = _largest(tensor_sizes)
        for tensor in tensor_list:
            tensor.resize_(size)
    else:
        size = max([_Pickled().size(obj) for obj in given]) if given else 0
        largest = torch.tensor([0], dtype=torch.long, device=device)
    c10d.broadcast(largest, group_src=root, group=group)
    output_tensor = torch.empty(size, dtype=torch.uint8, device=device)
    c10d.scatter(output_tensor, tensor_list, group_src=root, group=group)
    obj_tensor_size = torch.tensor([0], dtype=torch.long, device=device)
    c10d.scatter(obj_tensor_size, tensor_sizes, group_src=root, group=group)
    sent = exchanged(group, given, [root])[0]
    scatter_object_output_list[0] = sent[group.rank()] if sent else None


def _send(tensor, group, group_dst, use_batch):
    if use_batch:
        c10d.batch_isend_irecv([c10d.P2POp(c10d.isend, tensor, group_peer=group_dst, group=group)]).pop().wait()
    else:
        c10d.send(tensor, group_dst=group_dst, group=group)


def _receive(tensor, group, group_src, use_batch):
    if use_batch:
        c10d.batch_isend_irecv([c10d.P2POp(c10d.irecv, tensor, group_peer=group_src, group=group)]).pop().wait()
    else:
        c10d.recv(tensor, group=group, group_src=group_src)


def send_object_list(object_list, dst=None, group=None, device=None, group_dst=None, use_batch=False):
    if c10d._is_outside(group, "send_object_list"):
        return
    group = c10d._group(group)
    target = c10d._index_in(group, dst, group_dst)
    device = device or _device_of(group)
    tensor_list, size_list = zip(*[_object_to_tensor(obj, device, group) for obj in object_list])
    object_sizes_tensor = torch.cat(size_list)
    _send(object_sizes_tensor, group, target, use_batch)
    object_tensor = tensor_list[0] if len(tensor_list) == 1 else torch.cat(tensor_list)
    _send(object_tensor, group, target, use_batch)
    sent_to(group, target, object_list)


def recv_object_list(object_list, src=None, group=None, device=None, group_src=None, use_batch=False):
    if c10d._is_outside(group, "recv_object_list"):
        return -1
    group = c10d._group(group)
    source = c10d._index_in(group, src, group_src)
    device = device or _device_of(group)
    received = received_from(group, source)
    if received is None:
        _C.refuse(
            f"rank {group._ranks[source]} sends objects that are not known here",
            "send numbers, texts, lists, tuples, dicts",
        )
    object_sizes_tensor = torch.empty(len(object_list), dtype=torch.long, device=device)
    _receive(object_sizes_tensor, group, source, use_batch)
    torch.sum(object_sizes_tensor)
    object_tensor = torch.empty(sum([_Pickled().size(obj) for obj in received]), dtype=torch.uint8, device=device)
    _receive(object_tensor, group, source, use_batch)
    _taken_apart(object_tensor, object_sizes_tensor)
    for i in range(len(object_list)):
        object_list[i] = received[i]
    return group._ranks[source]


def _taken_apart(object_tensor, object_sizes_tensor):
    """where each object ends is a number of the device"""
    offset = 0
    for obj_size in object_sizes_tensor:
        offset + obj_size
        obj_view = object_tensor[:1]
        offset += obj_size
