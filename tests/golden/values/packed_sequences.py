"""Recurrent layers on packed sequences: what comes out, and how large."""
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pack_sequence, pad_packed_sequence

for kind in (nn.LSTM, nn.GRU, nn.RNN):
    for options in ({}, {"bidirectional": True}, {"num_layers": 2, "dropout": 0.2}):
        layer = kind(8, 6, **options).to("cuda")
        x = torch.randn(5, 3, 8, device="cuda")
        packed = pack_padded_sequence(x, torch.tensor([5, 3, 4]), enforce_sorted=False)
        out, hidden = layer(packed)
        padded, lengths = pad_packed_sequence(out)
        state = hidden[0] if isinstance(hidden, tuple) else hidden
        print(kind.__name__, tuple(out.data.shape), tuple(padded.shape), lengths.tolist(), tuple(state.shape))
        padded.sum().backward()
        print(sum(p.grad is not None for p in layer.parameters()))

packed = pack_sequence([torch.randn(n, 4, device="cuda") for n in (4, 2, 1)])
print(packed.batch_sizes.tolist(), tuple(nn.GRU(4, 3).to("cuda")(packed)[1].shape))
