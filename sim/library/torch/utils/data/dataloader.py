import itertools
import random
import sys
import torch
from typing import Generic, TypeVar
from torch.utils.data.dataset import IterableDataset, TensorDataset
from torch.utils.data.sampler import BatchSampler, RandomSampler, SequentialSampler


class WorkerInfo:
    """what a dataset asks of the worker that it is in"""

    def __init__(self, id, num_workers, seed, dataset):
        self.id, self.num_workers, self.seed, self.dataset = id, num_workers, seed, dataset


_running = [None]  # the worker whose turn it is


def get_worker_info():
    return None if _running[0] is None else _running[0].info


T_co = TypeVar("T_co", covariant=True)
# Python's own: torch has dtypes of these names.
_int, _float, _bool = type(1), type(1.0), type(True)


def default_convert(data):
    return data


def default_collate(batch):
    elem = batch[0]
    if isinstance(elem, torch.Tensor):
        return torch.stack(batch, 0)
    if getattr(type(elem), "_is_numpy_array", False):
        return torch.stack([torch.as_tensor(each) for each in batch], 0)
    if isinstance(elem, _bool):
        return torch.tensor(batch)
    if isinstance(elem, _float):
        return torch.tensor(batch, dtype=torch.float64)
    if isinstance(elem, _int):
        return torch.tensor(batch)
    if isinstance(elem, str):
        return batch
    if isinstance(elem, dict):
        return {key: default_collate([d[key] for d in batch]) for key in elem}
    if isinstance(elem, tuple) and hasattr(elem, "_fields"):
        return type(elem)(*(default_collate(samples) for samples in zip(*batch)))
    if isinstance(elem, (tuple, list)):
        size = len(elem)
        if not all(len(sample) == size for sample in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        transposed = list(zip(*batch))
        if isinstance(elem, tuple):
            return [default_collate(samples) for samples in transposed]
        return [default_collate(samples) for samples in transposed]
    raise TypeError(
        f"default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {type(elem)}"
    )


def _is_on_host(dataset):
    return type(dataset) is TensorDataset and not any(t.is_cuda for t in dataset.tensors)


class _MapFetcher:
    def __init__(self, dataset, auto_collation, collate_fn):
        self.dataset, self.auto_collation, self.collate_fn = dataset, auto_collation, collate_fn
        self.makes_whole = auto_collation and collate_fn is default_collate and _is_on_host(dataset)

    def fetch(self, possibly_batched_index):
        if self.makes_whole:
            return [torch._C.picked_rows(t, possibly_batched_index) for t in self.dataset.tensors]
        if self.auto_collation:
            if hasattr(self.dataset, "__getitems__"):
                data = self.dataset.__getitems__(possibly_batched_index)
            else:
                data = [self.dataset[idx] for idx in possibly_batched_index]
        else:
            data = self.dataset[possibly_batched_index]
        return self.collate_fn(data)


class _IterableFetcher:
    def __init__(self, dataset, auto_collation, collate_fn, drop_last):
        self.dataset_iter, self.auto_collation, self.collate_fn, self.drop_last = (
            iter(dataset),
            auto_collation,
            collate_fn,
            drop_last,
        )
        self.ended = False

    def fetch(self, possibly_batched_index):
        if self.ended:
            raise StopIteration
        if self.auto_collation:
            data = []
            for _ in possibly_batched_index:
                try:
                    data.append(next(self.dataset_iter))
                except StopIteration:
                    self.ended = True
                    break
            if len(data) == 0 or (self.drop_last and len(data) < len(possibly_batched_index)):
                raise StopIteration
        else:
            data = next(self.dataset_iter)
        return self.collate_fn(data)


class _Endless:
    def __iter__(self):
        while True:
            yield None


def _pin_memory(data):
    if isinstance(data, torch.Tensor):
        return data.pin_memory()
    if hasattr(data, "pin_memory"):
        return data.pin_memory()
    if isinstance(data, dict):
        return {key: _pin_memory(value) for key, value in data.items()}
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*[_pin_memory(value) for value in data])
    if isinstance(data, tuple):
        return [_pin_memory(value) for value in data]
    if isinstance(data, list):
        return [_pin_memory(value) for value in data]
    return data


class _BaseDataLoaderIter:
    def __init__(self, loader):
        self._pin_memory = loader.pin_memory
        self._sampler_iter = iter(loader._index_sampler)
        self._seed = torch.empty((), dtype=torch.int64).random_(generator=loader.generator)
        self._length = loader

    def __iter__(self):
        return self

    def _next_index(self):
        return next(self._sampler_iter)

    def __next__(self):
        data = self._next_data()
        return _pin_memory(data) if self._pin_memory else data

    def __len__(self):
        return len(self._length)


def _fetcher_of(loader):
    if isinstance(loader.dataset, IterableDataset):
        return _IterableFetcher(loader.dataset, loader._auto_collation, loader.collate_fn, loader.drop_last)
    return _MapFetcher(loader.dataset, loader._auto_collation, loader.collate_fn)


class _SingleProcessDataLoaderIter(_BaseDataLoaderIter):
    def __init__(self, loader):
        super().__init__(loader)
        self._fetcher = _fetcher_of(loader)

    def _next_data(self):
        return self._fetcher.fetch(self._next_index())


def _numbers(modules):
    return [
        random.getstate(), torch.get_rng_state(),
        modules["numpy.random"].get_state() if "numpy.random" in modules else None,
    ]  # fmt: skip


def _set_numbers(modules, states):
    random.setstate(states[0])
    torch.set_rng_state(states[1])
    if states[2] is not None:
        modules["numpy.random"].set_state(states[2])


def _seed_of_numpy(base_seed, worker):
    """PyTorch's, from Melissa O'Neill's seed_seq: what each worker seeds NumPy with"""
    mask, constant = 0xFFFFFFFF, 0x43B0D7E5

    def hashed(value, constant, factor):
        value = (value ^ constant) & mask
        constant = constant * factor & mask
        value = value * constant & mask
        return (value ^ value >> 16) & mask, constant

    pool = []
    for entropy in (worker, base_seed & mask, base_seed >> 32, 0):
        value, constant = hashed(entropy, constant, 0x931E8875)
        pool.append(value)
    for source in range(4):
        for target in range(4):
            if source != target:
                value, constant = hashed(pool[source], constant, 0x931E8875)
                value = (0xCA01F9DD * pool[target] & mask) - (0x4973F715 * value & mask) & mask
                pool[target] = (value ^ value >> 16) & mask
    constant, out = 0x8B51F9DD, []
    for value in pool:
        value, constant = hashed(value, constant, 0x58F38DED)
        out.append(value)
    return out


class _Worker:
    """A worker has random numbers of its own, and its dataset sees which one it is."""

    def __init__(self, loader, number, seed):
        self._loader, self._seed, self._number, self.info = loader, seed, number, None
        self._states = self._fetcher = None
        self.is_active, self._begins_anew = True, False

    def _start(self):
        base_seed = self._seed.item()
        seed = base_seed + self._number
        self.info = WorkerInfo(self._number, self._loader.num_workers, seed, self._loader.dataset)
        random.seed(seed)
        torch.manual_seed(seed)
        if "numpy.random" in sys.modules:
            sys.modules["numpy.random"].seed(_seed_of_numpy(base_seed, self._number))
        if self._loader.worker_init_fn is not None:
            self._loader.worker_init_fn(self._number)
        self._fetcher = _fetcher_of(self._loader)

    def fetch(self, index):
        if self._fetcher is None and self._loader.worker_init_fn is None and _is_on_host(self._loader.dataset):
            self._fetcher = _fetcher_of(self._loader)
        if getattr(self._fetcher, "makes_whole", False):
            return self._fetcher.fetch(index)  # where nothing is drawn
        outside, before = _running[0], _numbers(sys.modules)
        _running[0] = self
        try:
            if self._fetcher is None:
                self._start()
            else:
                _set_numbers(sys.modules, self._states)
                if self._begins_anew:
                    self._fetcher = _fetcher_of(self._loader)
            self._begins_anew = False
            return self._fetcher.fetch(index)
        finally:
            self._states = _numbers(sys.modules)
            _running[0] = outside
            _set_numbers(sys.modules, before)

    def renew(self):
        """for the next epoch of workers that persist"""
        self.is_active = True
        self._begins_anew = isinstance(self._loader.dataset, IterableDataset) and self._fetcher is not None


class _MultiProcessingDataLoaderIter(_BaseDataLoaderIter):
    """Workers take turns. They are handed indices ahead, as many as in PyTorch, and make a batch when it is due."""

    def __init__(self, loader):
        super().__init__(loader)
        self._loader = loader
        self._workers = [_Worker(loader, number, self._seed) for number in range(loader.num_workers)]
        self._hand_out()

    def _reset(self, loader):
        self._sampler_iter = iter(loader._index_sampler)
        for worker in self._workers:
            worker.renew()
        self._hand_out()

    def _hand_out(self):
        self._tasks = []  # (worker, index) in the order of their batches
        self._turns = itertools.cycle(self._workers)
        for _ in range(self._loader.prefetch_factor * len(self._workers)):
            self._hand_one()

    def _hand_one(self):
        try:
            index = self._next_index()
        except StopIteration:
            return
        for _ in self._workers:
            worker = next(self._turns)
            if worker.is_active:
                self._tasks.append((worker, index))
                return

    def _next_data(self):
        while self._tasks:
            worker, index = self._tasks.pop(0)
            if not worker.is_active:
                continue
            try:
                data = worker.fetch(index)
            except StopIteration:
                if not isinstance(self._loader.dataset, IterableDataset):
                    raise
                worker.is_active = False
                self._hand_one()
                continue
            self._hand_one()
            return data
        raise StopIteration

    def _shutdown_workers(self):
        pass


class DataLoader(Generic[T_co]):
    _iterator = None

    def __init__(
        self,
        dataset,
        batch_size=1,
        shuffle=None,
        sampler=None,
        batch_sampler=None,
        num_workers=0,
        collate_fn=None,
        pin_memory=False,
        drop_last=False,
        timeout=0,
        worker_init_fn=None,
        multiprocessing_context=None,
        generator=None,
        *,
        prefetch_factor=None,
        persistent_workers=False,
        pin_memory_device="",
        in_order=True,
    ):
        if num_workers < 0:
            raise ValueError("num_workers option should be non-negative; use num_workers=0 to disable multiprocessing.")
        if num_workers == 0 and prefetch_factor is not None:
            raise ValueError(
                "prefetch_factor option could only be specified in multiprocessing.let num_workers > 0 to enable "
                "multiprocessing, otherwise set prefetch_factor to None."
            )
        if persistent_workers and num_workers == 0:
            raise ValueError("persistent_workers option needs num_workers > 0")
        iterable = isinstance(dataset, IterableDataset)
        if iterable and shuffle:
            raise ValueError(
                f"DataLoader with IterableDataset: expected unspecified shuffle option, but got shuffle={shuffle}"
            )
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError(
                    "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last"
                )
            batch_size, drop_last = None, False
        elif batch_size is None and drop_last:
            raise ValueError("batch_size=None option disables auto-batching and is mutually exclusive with drop_last")
        if sampler is None:
            if iterable:
                sampler = _Endless()
            elif shuffle:
                sampler = RandomSampler(dataset, generator=generator)
            else:
                sampler = SequentialSampler(dataset)
        if batch_size is not None and batch_sampler is None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.generator = generator
        self.dataset, self.batch_size, self.drop_last = dataset, batch_size, drop_last
        self.sampler, self.batch_sampler, self.num_workers, self.pin_memory = (
            sampler,
            batch_sampler,
            num_workers,
            pin_memory,
        )
        self.timeout, self.worker_init_fn = timeout, worker_init_fn
        self.multiprocessing_context, self.persistent_workers = multiprocessing_context, persistent_workers
        self.prefetch_factor = 2 if num_workers > 0 and prefetch_factor is None else prefetch_factor
        self.pin_memory_device, self.in_order = pin_memory_device, in_order
        self.collate_fn = (
            collate_fn if collate_fn is not None else default_collate if self._auto_collation else default_convert
        )

    @property
    def _auto_collation(self):
        return self.batch_sampler is not None

    @property
    def _index_sampler(self):
        return self.batch_sampler if self._auto_collation else self.sampler

    def _get_iterator(self):
        return _SingleProcessDataLoaderIter(self) if self.num_workers == 0 else _MultiProcessingDataLoaderIter(self)

    def __iter__(self):
        if not self.persistent_workers or self.num_workers == 0:
            return self._get_iterator()
        if self._iterator is None:
            self._iterator = self._get_iterator()
        else:
            self._iterator._reset(self)
        return self._iterator

    def __len__(self):
        if isinstance(self.dataset, IterableDataset):
            n = len(self.dataset)
            if self.batch_size is None:
                return n
            return n // self.batch_size if self.drop_last else (n + self.batch_size - 1) // self.batch_size
        return len(self._index_sampler)
