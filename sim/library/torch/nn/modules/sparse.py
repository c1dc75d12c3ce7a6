import torch
import torch.nn.functional as F
from torch.nn import Parameter
from torch.nn.modules.module import Module


class Embedding(Module):
    def __init__(self, num_embeddings, embedding_dim, padding_idx=None, max_norm=None, norm_type=2.0,
                 scale_grad_by_freq=False, sparse=False, _weight=None, _freeze=False, device=None, dtype=None):
        super().__init__()
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        if padding_idx is not None and padding_idx < 0:
            padding_idx += num_embeddings
        self.padding_idx, self.max_norm, self.norm_type = padding_idx, max_norm, norm_type
        self.scale_grad_by_freq, self.sparse = scale_grad_by_freq, sparse
        made = _weight is None
        if made:
            _weight = torch.empty((num_embeddings, embedding_dim), device=device, dtype=dtype)
        self.weight = Parameter(_weight, requires_grad=not _freeze)
        if made:
            self.reset_parameters()

    def reset_parameters(self):
        torch._C.fill_random(self.weight, "normal", 0.0, 1.0)
        if self.padding_idx is not None:
            torch._C.forget(self.weight)  # a row of zeros stands in it
            if torch._C.spec_of(self.weight) is not None:
                with torch.no_grad():
                    self.weight.select(0, self.padding_idx).fill_(0)

    @classmethod
    def from_pretrained(cls, embeddings, freeze=True, padding_idx=None, **kwargs):
        rows, cols = embeddings.shape
        return cls(rows, cols, padding_idx, _weight=embeddings, _freeze=freeze, **kwargs)

    def forward(self, input):
        return F.embedding(input, self.weight, self.padding_idx, self.max_norm, self.norm_type, self.scale_grad_by_freq,
                           self.sparse)


class EmbeddingBag(Module):

    def __init__(
        self,
        num_embeddings,
        embedding_dim,
        max_norm=None,
        norm_type=2.0,
        scale_grad_by_freq=False,
        mode="mean",
        sparse=False,
        _weight=None,
        include_last_offset=False,
        padding_idx=None,
        device=None,
        dtype=None,
    ):
        super().__init__()
        self.num_embeddings, self.embedding_dim, self.max_norm, self.norm_type = (
            num_embeddings,
            embedding_dim,
            max_norm,
            norm_type,
        )
        self.scale_grad_by_freq, self.mode, self.sparse = scale_grad_by_freq, mode, sparse
        self.include_last_offset, self.padding_idx = include_last_offset, padding_idx
        made = _weight is None
        if made:
            _weight = torch.empty((num_embeddings, embedding_dim), device=device, dtype=dtype)
        self.weight = Parameter(_weight)
        if made:
            self.reset_parameters()

    def reset_parameters(self):
        torch._C.fill_random(self.weight, "normal", 0.0, 1.0)
        if self.padding_idx is not None:
            torch._C.forget(self.weight)  # a row of zeros stands in it

    def forward(self, input, offsets=None, per_sample_weights=None):
        return F.embedding_bag(
            input,
            self.weight,
            offsets,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.mode,
            self.sparse,
            per_sample_weights,
            self.include_last_offset,
            self.padding_idx,
        )
