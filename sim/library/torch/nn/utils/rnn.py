import torch
import torch._C as _C


def _numbers(lengths):
    """lengths as numbers: what a list, or a tensor made of one, says"""
    if isinstance(lengths, (list, tuple)):
        return [int(length) for length in lengths]
    values = _C.known_integers(lengths)
    if values is None:
        _C.refuse("pack_padded_sequence: the values of lengths are not known",
                  "give lengths as a list, or as torch.tensor([...]) on the host")
    return values


class PackedSequence:
    """the steps of all sequences, one after another, the longest sequences first"""

    def __init__(self, data, batch_sizes=None, sorted_indices=None, unsorted_indices=None):
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        # A tuple drops its last member first.
        self.unsorted_indices, self.sorted_indices = unsorted_indices, sorted_indices
        self.batch_sizes, self.data = batch_sizes, data

    def _parts(self):
        return (self.data, self.batch_sizes, self.sorted_indices, self.unsorted_indices)

    def __iter__(self):
        return iter(self._parts())

    def __getitem__(self, index):
        return self._parts()[index]

    def __len__(self):
        return 4

    @property
    def is_cuda(self):
        return self.data.is_cuda

    def to(self, *args, **kwargs):
        data = self.data.to(*args, **kwargs)
        if data is self.data:
            return self
        place = lambda t: None if t is None else t.to(data.device)
        return PackedSequence(data, self.batch_sizes, place(self.sorted_indices), place(self.unsorted_indices))

    def cuda(self, *args, **kwargs):
        return self if self.is_cuda else self.to("cuda")

    def cpu(self):
        return self.to("cpu")

    def float(self):
        return self.to(dtype=torch.float)

    def half(self):
        return self.to(dtype=torch.half)

    def double(self):
        return self.to(dtype=torch.double)


def invert_permutation(permutation):
    if permutation is None:
        return None
    output = torch.empty_like(permutation, memory_format=torch.legacy_contiguous_format)
    output.scatter_(0, permutation, torch.arange(0, permutation.numel(), device=permutation.device))
    return output


def pack_padded_sequence(input, lengths, batch_first=False, enforce_sorted=True):
    numbers = _numbers(lengths)
    if enforce_sorted:
        sorted_indices = None
    else:
        order = sorted(range(len(numbers)), key=lambda i: -numbers[i])
        numbers = [numbers[i] for i in order]
        sorted_indices = torch.tensor(order).to(input.device)
        batch_dim = 0 if batch_first else 1
        input = input.index_select(batch_dim, sorted_indices)
    data = torch._pack_padded_sequence(input, numbers, batch_first)
    sizes = [sum([1 for length in numbers if length > step]) for step in range(numbers[0])]
    return PackedSequence(data, torch.tensor(sizes), sorted_indices, None)


def pad_packed_sequence(sequence, batch_first=False, padding_value=0.0, total_length=None):
    data, sizes = sequence.data, _numbers(sequence.batch_sizes)
    longest = len(sizes)
    if total_length is not None:
        if total_length < longest:
            raise ValueError(
                "Expected total_length to be at least the length of the longest sequence in input, but got "
                f"total_length={total_length} and max sequence length being {longest}"
            )
        longest = total_length
    output = torch.full([longest, sizes[0]] + list(data.shape[1:]), padding_value, dtype=data.dtype, device=data.device)
    unsorted_indices = sequence.unsorted_indices
    before, start, offset = sizes[0], 0, 0
    lengths = [0] * sizes[0]
    for i in range(len(sizes) + 1):
        batch = sizes[i] if i < len(sizes) else 0
        if batch != before:
            count = before * (i - start)
            output[start:i].narrow(1, 0, before).copy_(
                data[offset : offset + count].view([i - start, before] + list(data.shape[1:]))
            )
            offset += count
            start = i
        for k in range(batch, before):
            lengths[k] = i
        before = batch
    if batch_first:
        output = output.transpose(0, 1)
    if unsorted_indices is not None:
        in_order = output.index_select(0 if batch_first else 1, unsorted_indices)
        order = _C.known_integers(sequence.sorted_indices)
        if order is None:
            return in_order, torch.tensor(lengths)[unsorted_indices.cpu()]
        return in_order, torch.tensor([length for _, length in sorted(zip(order, lengths))])
    return output, torch.tensor(lengths)


def pad_sequence(sequences, batch_first=False, padding_value=0.0, padding_side="right"):
    if not isinstance(sequences, (list, tuple)):
        sequences = sequences.unbind(0)
    longest = max([s.size(0) for s in sequences])
    rest = list(sequences[0].shape[1:])
    sizes = [len(sequences), longest] if batch_first else [longest, len(sequences)]
    out = torch.full(sizes + rest, padding_value, dtype=sequences[0].dtype, device=sequences[0].device)
    for i in range(len(sequences)):
        length = sequences[i].size(0)
        start = 0 if padding_side == "right" else longest - length
        if batch_first:
            out.select(0, i).narrow(0, start, length).copy_(sequences[i])
        else:
            out.narrow(0, start, length).select(1, i).copy_(sequences[i])
    return out


def pack_sequence(sequences, enforce_sorted=True):
    lengths = [v.size(0) for v in sequences]
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpad_sequence(padded_sequences, lengths, batch_first=False):
    _C.refuse("unpad_sequence is not modelled: it selects by mask", "slice each sequence by its length")


def unpack_sequence(packed_sequences):
    _C.refuse(
        "unpack_sequence is not modelled: it selects by mask",
        "use pad_packed_sequence and slice each sequence by its length",
    )
