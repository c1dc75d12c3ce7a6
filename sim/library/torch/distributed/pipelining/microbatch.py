import torch


class TensorChunkSpec:
    """along which dimension a tensor is split"""

    def __init__(self, split_dim):
        self.split_dim = split_dim

    @staticmethod
    def from_tuple(chunk_dims):
        return tuple([TensorChunkSpec(dim) for dim in chunk_dims])

    @staticmethod
    def from_dict(chunk_dims):
        return {name: TensorChunkSpec(dim) for name, dim in chunk_dims.items()}


def _pieces(value, spec, chunks):
    """of an argument: a part for each micro-batch, or the same for all"""
    if isinstance(value, torch.Tensor):
        return list(torch.tensor_split(value, chunks, 0 if spec is None else spec.split_dim))
    if isinstance(value, (list, tuple)):
        columns = [_pieces(item, None, chunks) for item in value]
        return [type(value)([column[i] for column in columns]) for i in range(chunks)]
    return [value] * chunks


def split_args_kwargs_into_chunks(args, kwargs, chunks, args_chunk_spec=None, kwargs_chunk_spec=None):
    kwargs = kwargs or {}
    args_spec = [None] * len(args) if args_chunk_spec is None else args_chunk_spec
    columns = [_pieces(value, spec, chunks) for value, spec in zip(args, args_spec)]
    named = {k: _pieces(v, (kwargs_chunk_spec or {}).get(k), chunks) for k, v in kwargs.items()}
    return (
        [tuple([column[i] for column in columns]) for i in range(chunks)],
        [{k: v[i] for k, v in named.items()} for i in range(chunks)],
    )


def merge_chunks(chunks, chunk_spec):
    first = chunks[0]
    if isinstance(first, torch.Tensor):
        dim = chunk_spec.split_dim if isinstance(chunk_spec, TensorChunkSpec) else 0
        return torch.cat(list(chunks), dim=dim)
    if isinstance(first, (list, tuple)):
        specs = [None] * len(first) if chunk_spec is None else chunk_spec
        return type(first)([merge_chunks([c[i] for c in chunks], specs[i]) for i in range(len(first))])
    if isinstance(first, dict):
        return {k: merge_chunks([c[k] for c in chunks], (chunk_spec or {}).get(k)) for k in first}
    return first
