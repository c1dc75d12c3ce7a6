# How much modules draw as they are made on the host, and what initialisers draw.
import torch
from torch import nn

torch.manual_seed(1)


def shows(name, module):
    print(name, torch.randint(0, 10**6, (1,)).item())
    return module


shows("linear", nn.Linear(5, 3))
shows("linear without bias", nn.Linear(40, 3, bias=False))
shows("convolution", nn.Conv2d(3, 8, 3))
shows("transposed", nn.ConvTranspose1d(4, 6, 5, bias=False))
shows("embedding", nn.Embedding(7, 5))
shows("padded embedding", nn.Embedding(7, 5, padding_idx=0))
shows("bag", nn.EmbeddingBag(4, 6))
shows("bilinear", nn.Bilinear(2, 3, 4))
shows("norms", nn.Sequential(nn.LayerNorm(8), nn.BatchNorm2d(4), nn.GroupNorm(2, 4)))
shows("lstm", nn.LSTM(4, 6, num_layers=2, bidirectional=True))
shows("gru", nn.GRU(4, 6))
shows("cell", nn.LSTMCell(3, 5))
shows("attention", nn.MultiheadAttention(16, 4))
shows("attention of others", nn.MultiheadAttention(16, 4, kdim=8, vdim=12))
shows("encoder layer", nn.TransformerEncoderLayer(16, 4, 32))
shows("encoder", nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 4, 32, batch_first=True), 3))
shows("transformer", nn.Transformer(16, 4, 1, 1, 32))
weight = torch.empty(6, 20)
shows("uniform_", nn.init.uniform_(weight))
shows("normal_", nn.init.normal_(weight, std=0.02))
shows("trunc_normal_", nn.init.trunc_normal_(weight, std=0.02))
shows("xavier_uniform_", nn.init.xavier_uniform_(weight))
shows("xavier_normal_", nn.init.xavier_normal_(weight))
shows("kaiming_uniform_", nn.init.kaiming_uniform_(weight))
shows("kaiming_normal_", nn.init.kaiming_normal_(weight, mode="fan_out", nonlinearity="relu"))
shows("constant_", nn.init.constant_(weight, 2.0))
print(nn.init.uniform_(weight)[0, :4].tolist(), nn.init.ones_(weight).sum().item(), nn.Linear(3, 2).weight.tolist())
shows("dropout", nn.functional.dropout(torch.ones(10)))
shows("no dropout", nn.Dropout(0.1).eval()(torch.ones(10)))
shows("channels", nn.functional.dropout2d(torch.ones(2, 3, 4, 4)))
shows("gumbel", nn.functional.gumbel_softmax(torch.ones(10)))
print(nn.functional.dropout(torch.ones(8), 0.25).tolist())
