import _tidemark
import torch
import torch._C as _C
import weakref
from torch.distributed import _nccl_memory
from torch.futures import Future


_STEP = 2  # moments (_C.moment) of a step of training: a backward pass, an optimizer's step


class Work:
    """a collective that was queued on a stream of the group's own. What it works on is kept until somebody waits for
    it, or its stream is recorded on it. Source: ProcessGroupNCCL::WorkNCCL, TensorShelf; docs/rules/distributed.md#4"""

    def __init__(self, group, stream, kept, outputs):
        # As C++'s vector: the first goes first.
        self._group, self._outputs = weakref.ref(group), dict(enumerate(outputs))
        self._shelf = dict(enumerate(kept))
        self._event = stream.record_event()
        self._moment = _C.moment()
        group._unwaited[id(self)] = self

    def _clear_shelf(self):
        for place in list(self._shelf):
            del self._shelf[place]

    def wait(self, timeout=None):
        self._event.wait()
        self._clear_shelf()
        group = self._group()
        if group is not None:
            group._unwaited.pop(id(self), None)
        return True

    def block_current_stream(self):
        self._event.wait()

    def synchronize(self):
        self.wait()

    def is_completed(self):
        return self._event.query()

    def is_success(self):
        return True

    def exception(self):
        return None

    def result(self):
        return list(self._outputs.values())

    def get_future(self):
        outputs = list(self._outputs.values())
        return Future._completed(outputs, self._event, [t.device for t in outputs[:1]])


class _OnHost:
    """a collective between hosts, which is done when it is called"""

    def __init__(self, outputs):
        self._outputs = outputs

    def wait(self, timeout=None):
        return True

    synchronize = block_current_stream = wait

    def is_completed(self):
        return True

    is_success = is_completed

    def exception(self):
        return None

    def result(self):
        return self._outputs

    def get_future(self):
        return Future._completed(self._outputs, None, [])


def _bytes(tensors):
    return sum([t.numel() * t.element_size() for t in tensors])


def _flat_like(tensors):
    """one tensor of all of them, each in its own layout"""
    first = tensors[0]
    return torch.empty_strided(
        (len(tensors), *first.shape), (first.numel(), *first.stride()), dtype=first.dtype, device=first.device
    )


def _pair(own, peer):
    return f"{min([own, peer])}:{max([own, peer])}"


class Ranks:
    """ranks of a group that may be others for other ranks: worked out when somebody asks for them. `plain`: the same,
    by sums and products of numbers alone, which part no ranks"""

    def __init__(self, size, make, plain=None):
        self._size, self._make, self._plain, self._made = size, make, plain, None

    def told(self):
        """None: they cannot be told without asking which rank this is"""
        return self._made if self._plain is None else self._plain()

    def _all(self):
        if self._made is None:
            self._made = self._make()
        return self._made

    def __len__(self):
        return self._size

    def __iter__(self):
        return iter(self._all())

    def __getitem__(self, index):
        return self._all()[index]

    def __contains__(self, rank):
        return rank in self._all()

    def index(self, rank):
        return self._all().index(rank)

    def __eq__(self, other):
        return self is other or (len(self) == len(other) and self._all() == list(other))


class ProcessGroup:
    """some ranks of the job, as this process sees them. Source: ProcessGroupNCCL"""

    def __init__(self, ranks, rank, name, backend="nccl", desc="undefined"):
        self._ranks, self._rank, self._backend, self._size = ranks, rank, backend, len(ranks)
        self.group_name, self.group_desc = name, desc
        self._streams, self._pairs, self._unwaited = {}, [], {}
        self._together = None  # what is coalesced: [stream, tensors, outputs]
        self.bound_device_id, self._exchanges, self._counts, self._number = None, 0, {}, None
        self._serves_hosts = backend != "nccl"

    def rank(self):
        return self._rank

    def size(self):
        return self._size

    def name(self):
        return self._backend

    @property
    def group_size(self):
        return self._size

    def _get_backend_name(self):
        return self._backend

    def _get_backend(self, device):
        return self

    supports_coalescing = True
    supports_splitting = False

    def supports_tensor_alloc(self, device):
        return False

    def _set_sequence_number_for_group(self):
        pass

    def __repr__(self):
        return f"<torch.distributed.distributed_c10d.ProcessGroup {self.group_name}>"

    # ---- streams

    def _stream(self, device, key=None):
        """the stream of a communicator, made with it at its first use"""
        key = torch.cuda._number_of(device) if key is None else key
        if key not in self._streams:
            self._streams[key] = torch.cuda.Stream(device)
            _nccl_memory.tell(self._size)
        return self._streams[key]

    def _pair_stream(self, device, peer):
        """that of a communicator of two: which pairs are the same may hang on the rank"""
        key = _C.by_rank(_pair, self._rank, peer)
        for known, stream in self._pairs:
            if known == key:
                return stream
        self._pairs.append((key, torch.cuda.Stream(device)))
        _nccl_memory.tell(2, True)
        return self._pairs[-1][1]

    def _let_go(self):
        """drops what finished work kept that nobody waited for, once the script took its time: NCCL's watchdog looks.
        When it does is chance: here at the first moment that it could, or after one more step of training"""
        if not self._unwaited:
            return
        is_late = _tidemark.takes_late_ends()
        last = _C.moment() - (_STEP if is_late else 0)
        for key in [key for key, work in self._unwaited.items() if work._moment < last]:
            work = self._unwaited.pop(key)
            if work._shelf:
                when = "a step of training later" if is_late else "once a backward pass or a step has ended"
                _tidemark.leave_to_chance(
                    "NCCL's watchdog, which looks every 100 ms, lets go of what collectives keep that "
                    f"nobody waits for; here {when}"
                )
            work._clear_shelf()
            del work

    def _record(self, tensors):
        """the communicator's stream, on what a collective works on"""
        for t in tensors:
            t.record_stream(self._stream(t.device))

    def _followed(self):
        """this group's number among those whose transfers are followed"""
        if self._number is None:
            ranks = self._ranks.told() if isinstance(self._ranks, Ranks) else list(self._ranks)
            self._number = _C.follow_group(int(self.group_name), self._size, ranks)
        return self._number

    def _communicate(self, tensor, inputs, outputs, kind, peer=0, is_joined=False):
        """on the current stream. A peer is a place in the group; a transfer that is joined is one with that before"""
        if _C.follows_transfers():
            _C.follow_launch(tensor, self._followed(), kind, _bytes(inputs), _bytes(outputs), peer, is_joined)
        _C.communicate(tensor, _bytes(inputs) + _bytes(outputs))

    def _passed_to_others(self, tensors, is_waited_for=True, kind="all_reduce"):
        """what C++ itself sends, and waits for or not"""
        if not tensors[0].is_cuda:
            return
        self._let_go()
        own = self._stream(tensors[0].device)
        if _C.release_rule("collectives_record_streams"):
            self._run(tensors, tensors, kind=kind)
            return
        if _C.follows_transfers():
            _C.follow_beside(tensors[0], own._index, self._followed(), kind, _bytes(tensors))
            if is_waited_for:
                self._awaited(tensors[0])
        if not is_waited_for:
            Work(self, own, list(tensors), [])

    def _awaited(self, tensor):
        """the current stream waits for what was passed to others"""
        if tensor.is_cuda and _C.follows_transfers() and not _C.release_rule("collectives_record_streams"):
            _C.follow_wait(tensor, self._stream(tensor.device)._index)

    # ---- collectives

    def _require_host(self):
        """that the group has a backend for tensors on the host. Source: ProcessGroup::getBackend"""
        if not self._serves_hosts:
            raise RuntimeError("No backend type associated with device type cpu")

    @staticmethod
    def _keeps(asynchronous):
        """whether a collective keeps what it works on"""
        return asynchronous or _C.release_rule("collectives_record_streams")

    def _run(
        self, inputs, outputs, asynchronous=False, after=None, kept=None, given=(), is_list=False, kind="collective"
    ):
        """one collective: `inputs` and `outputs` are what NCCL reads and writes, `after` what copies out of them.
        `kept`: what is kept instead of them, in its order; `given`: what is kept beside them. `is_list`: of several
        tensors, which has a Work of its own, also where it is called with others"""
        tensor = (list(inputs) + list(outputs))[0]
        if not tensor.is_cuda:
            self._require_host()
            if after is not None:
                after()
            return _OnHost(outputs) if asynchronous else None
        self._let_go()
        own = self._stream(tensor.device)
        records = _C.release_rule("collectives_record_streams")
        if not self._keeps(asynchronous):
            self._communicate(tensor, inputs, outputs, kind)
            if after is not None:
                after()
            return None
        own.wait_stream(torch.cuda.current_stream(tensor.device))
        with torch.cuda.stream(own):
            self._communicate(tensor, inputs, outputs, kind)
            if after is not None:
                after()
        held = (list(inputs) + list(outputs) if kept is None else kept) + list(given)
        if records:
            self._record(held)
            held = []
        if self._together is not None:
            self._together[0] = own
            if is_list:
                return Work(self, own, held, list(outputs)) if self._keeps(asynchronous) else None
            self._together[1].extend(held)
            self._together[2].extend(outputs)
            return None
        work = Work(self, own, held, list(outputs) if kept is None else [])
        if asynchronous:
            return work
        work.wait()
        return None

    def _peer(self, tensor, peer, kind):
        """sends to a rank of the group, or receives from it"""
        if not tensor.is_cuda:
            self._require_host()
            return _OnHost([tensor])
        self._let_go()
        is_eager = self.bound_device_id is not None and not _C.release_rule("pairs_have_communicators")
        if self._together is None and not is_eager:
            own = self._pair_stream(tensor.device, peer)
        else:
            own = self._stream(tensor.device)
        own.wait_stream(torch.cuda.current_stream(tensor.device))
        with torch.cuda.stream(own):
            is_joined = self._together is not None and self._together[0] is not None
            self._communicate(tensor, [tensor], [], kind, peer, is_joined)
        tensor.record_stream(own)
        if self._together is not None:
            self._together[0] = own
            return None
        return Work(self, own, [], [tensor])

    def _start_coalescing(self, device=None):
        self._together = [None, [], []]

    def _end_coalescing(self, device=None):
        own, tensors, outputs = self._together
        self._together = None
        return None if own is None else Work(self, own, tensors, outputs)

    def allreduce(self, tensors, asynchronous=False):
        return self._run(tensors, tensors, asynchronous, kind="all_reduce")

    def allgather(self, outputs, tensor, asynchronous=False):
        """through one flat tensor of all ranks' parts, where they are alike and the release does so; else each from its
        rank"""
        if not _C.release_rule("all_gather_through_flat") or any([t.shape != outputs[0].shape for t in outputs]):
            kept = []
            if self._keeps(asynchronous):
                kept = [x for i, t in enumerate(outputs) for x in (tensor if i == self._rank else t, t)]
            return self._run([tensor], outputs, asynchronous, kept=kept, kind="all_gather")
        flat = _flat_like(outputs)

        def after():
            for i, t in enumerate(outputs):
                t.copy_(flat[i], True)
            if _C.release_rule("collectives_record_streams"):
                self._record(outputs)

        with torch.no_grad():
            return self._run(
                [tensor], [flat], asynchronous, after, given=outputs if asynchronous else (), kind="all_gather"
            )

    def reduce_scatter(self, output, tensors, asynchronous=False):
        if any([t.shape != tensors[0].shape for t in tensors]):
            kept = []
            if self._keeps(asynchronous):
                kept = [x for i, t in enumerate(tensors) for x in (t, output if i == self._rank else t)]
            return self._run(tensors, [output], asynchronous, kept=kept, kind="reduce_scatter")
        with torch.no_grad():
            flat = _flat_like(tensors)
            for i, t in enumerate(tensors):
                flat[i].copy_(t, True)
            return self._run(
                [flat], [output], asynchronous, given=tensors if asynchronous else (), kind="reduce_scatter"
            )

    def barrier(self, device, asynchronous=False):
        """a sum of one number. The operator's own argument stays for the next barrier."""
        _barrier_argument[0] = torch.empty((1,), dtype=torch.uint8, device=device)
        work = self._run(
            *[[torch.zeros((1,), dtype=torch.float32, device=device)]] * 2, asynchronous, kind="barrier"
        )
        if not asynchronous:
            torch.cuda.current_stream(device).synchronize()
        return work


_barrier_argument = [None]
