import enum
import sys
import _tidemark
import torch
import torch._C as _C
from torch.distributed import _messages

# What ranks tell each other of what the host knows. Each rank is run by itself; what others send is what their own
# runs send in the same exchange: the one of that number among those of the same ranks.


def _next_exchange(group):
    """(whether it is of all ranks, its key)"""
    from torch.distributed import distributed_c10d as c10d

    group._exchanges += 1
    whole = group.size() == c10d.get_world_size()
    ranks = "all" if whole else ",".join([str(r) for r in group._ranks])
    return whole, ranks + "#" + str(group._exchanges)


_MOST = 1024  # numbers that are sent


def send_numbers(group, tensor, source):
    """flags and counts, if they are known, that one rank (its place in the group) sends to the others"""
    if tensor.dim() > 1 or tensor.numel() > _MOST or tensor.is_floating_point():
        if group.rank() != source and _C.knows_numbers(tensor):
            _tidemark.note("numbers that other ranks send are not known: they are taken to be this rank's own")
        return
    whole, key = _next_exchange(group)  # counted on all ranks, whichever knows them
    if group.rank() == source:
        _messages.put_numbers(key, tensor)
    else:
        _messages.take_numbers(key, source if whole else group._ranks[source], tensor)


def receive_counts(group, tensor, output):
    """counts that all ranks of a group send each other in equal parts. Where routers choose by a stated distribution
    (--routing) they choose alike on all ranks: each sends this one as many as this one sends itself"""
    if output is not None and _C.has_routing():
        _C.receive_alike(output, tensor, _C.own_number(group.rank(), tensor), group.size())


_REDUCED = ("__reduce__", "__reduce_ex__", "__getstate__", "__setstate__", "__getnewargs__", "__slots__")


def is_of_a_program(cls):
    """a plain class, whose instances pickle takes apart by itself"""
    if cls.__module__ in ("builtins", "collections") or cls.__module__.split(".")[0] in ("torch", "numpy"):
        return False
    if issubclass(cls, enum.Enum) or (issubclass(cls, tuple) and hasattr(cls, "_fields")):
        return True
    if issubclass(cls, (int, float, str, bytes, tuple, list, dict, set, frozenset)):
        return False
    own = {name for base in cls.__mro__[:-1] for name in vars(base)}
    return not any([name in own for name in _REDUCED])


def _written_instance(obj):
    cls = type(obj)
    if isinstance(obj, enum.Enum):
        parts = [cls.__module__, cls.__qualname__, (obj.value,)]
    else:
        made_of = tuple(obj) if isinstance(obj, tuple) else ()
        parts = [cls.__module__, cls.__qualname__, made_of, getattr(obj, "__dict__", None) or {}]
    texts = [_written(part) for part in parts]
    return None if None in texts else "_instance(" + ",".join(texts) + ")"


def _read_instance(module, name, made_of, state=None):
    cls = sys.modules[module]
    for part in name.split("."):
        cls = getattr(cls, part)
    if state is None:
        return cls(*made_of)
    made = cls.__new__(cls, *made_of)
    if state:
        made.__dict__.update(state)
    return made


def _written(obj):
    """as text that eval() reads; None: it is of another kind"""
    if is_of_a_program(type(obj)):
        return _written_instance(obj)
    if obj is None or isinstance(obj, (bool, int)):
        return str(obj)
    if isinstance(obj, float):
        return str(obj) if obj - obj == 0 else None
    if isinstance(obj, str):
        return "'" + obj.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\r", "\\r") + "'"
    if isinstance(obj, torch.Tensor) and obj.is_meta:
        return _written_meta(obj)
    if type(obj) is dict:
        items = [_written(x) for pair in obj.items() for x in pair]
        if any([x is None for x in items]):
            return None
        return "{" + "".join([x + (":" if i % 2 == 0 else ",") for i, x in enumerate(items)]) + "}"
    if type(obj) in (list, tuple):
        items = [_written(x) for x in obj]
        if any([x is None for x in items]):
            return None
        ends = "[]" if type(obj) is list else "()"
        return ends[0] + "".join([x + "," for x in items]) + ends[1]
    return None


def _written_meta(tensor):
    kind = str(tensor.dtype)[len("torch.") :]
    parts = [_written(part) for part in (tuple(tensor.shape), tensor.stride(), kind, tensor.requires_grad)]
    return "_meta(" + ",".join(parts) + ")"


def _read_meta(shape, stride, kind, requires_grad):
    return torch.empty_strided(
        shape, stride, dtype=getattr(torch, kind), device="meta", requires_grad=requires_grad
    )


def _read(text):
    return eval(text, {"__builtins__": {}, "_meta": _read_meta, "_instance": _read_instance})


def _next_between(group, source, target):
    """the key of what one rank sends another, both by their places in the group"""
    pair = (group._ranks[source], group._ranks[target])
    group._counts[pair] = group._counts.get(pair, 0) + 1
    return f"{pair[0]}>{pair[1]}#{group._counts[pair]}"


def sent_to(group, target, obj):
    text = _written(obj)
    _messages.put_message(_next_between(group, group.rank(), target), "" if text is None else text)


def received_from(group, source):
    """what the rank's own run sends; None where that is not known"""
    text = _messages.take_message(_next_between(group, source, group.rank()), group._ranks[source])
    return _read(text) if text else None


def exchanged(group, own, senders):
    """what each of the senders (places in the group) has sent. Where that is not known, it is taken for `own`"""
    whole, key = _next_exchange(group)
    text, out = _written(own), []
    _messages.put_message(key, "" if text is None else text)
    for sender in senders:
        text = _messages.take_message(key, sender if whole else group._ranks[sender])
        if text is None:
            _tidemark.note("objects that other ranks send are not known: they are taken to be this rank's own")
        out.append(_read(text) if text else own)
    return out
