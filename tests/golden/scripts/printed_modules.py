"""What print() says of modules: every option that PyTorch shows."""

import torch
from torch import nn
m = nn.Sequential(nn.GELU(), nn.GELU(approximate="tanh"), nn.ELU(), nn.ELU(0.5, True), nn.SELU(), nn.CELU(), nn.Hardtanh(),
    nn.ReLU6(), nn.LeakyReLU(0.2, True), nn.Softplus(), nn.Softmax(dim=-1), nn.LogSoftmax(1), nn.PReLU(3), nn.RReLU(),
    nn.Threshold(0.1, 2), nn.SiLU(True), nn.Mish(), nn.Hardswish(), nn.Hardsigmoid(), nn.GLU(), nn.Tanh(), nn.Sigmoid(),
    nn.ReLU(True), nn.Softsign(), nn.Softshrink(), nn.Hardshrink(), nn.Tanhshrink(), nn.LogSigmoid(), nn.Softmin(1),
    nn.Softmax2d(), nn.Identity(), nn.Flatten(), nn.Unflatten(1, (2, 3)), nn.Dropout(0.3), nn.Dropout2d(), nn.AlphaDropout(),
    nn.Upsample(scale_factor=2), nn.Upsample(size=(3, 4), mode="bilinear"), nn.PixelShuffle(2), nn.PixelUnshuffle(2),
    nn.ZeroPad2d(1), nn.ReflectionPad2d(2), nn.ReplicationPad1d((1, 2)), nn.ConstantPad2d(1, 2.0),
    nn.AdaptiveAvgPool2d((1, 1)), nn.AdaptiveMaxPool2d(7), nn.AvgPool2d(2), nn.MaxPool2d(3, 2, 1), nn.LPPool2d(2, 3),
    nn.MaxUnpool2d(2), nn.FractionalMaxPool2d(3, output_size=4), nn.LayerNorm(5),
    nn.LayerNorm((3, 4), elementwise_affine=False), nn.GroupNorm(2, 4), nn.InstanceNorm2d(3), nn.BatchNorm2d(3),
    nn.RMSNorm(4), nn.LocalResponseNorm(2), nn.CosineSimilarity(), nn.PairwiseDistance(), nn.Embedding(4, 5, padding_idx=0),
    nn.EmbeddingBag(4, 5), nn.Linear(2, 3, bias=False), nn.Bilinear(2, 3, 4),
    nn.Conv2d(3, 6, 3, stride=2, padding=1, dilation=2, groups=3, bias=False, padding_mode="reflect"),
    nn.ConvTranspose2d(3, 4, 3, 2, output_padding=1), nn.LSTM(3, 4, 2, batch_first=True, bidirectional=True, dropout=0.1),
    nn.GRU(3, 4, bias=False), nn.RNN(3, 4), nn.LSTMCell(3, 4), nn.RNNCell(3, 4, nonlinearity="relu"),
    nn.MultiheadAttention(8, 2), nn.Fold(4, 2), nn.Unfold(3), nn.ChannelShuffle(2), nn.CircularPad2d(1))
print(m)
print(nn.AvgPool1d(2), nn.MaxUnpool1d(3, 2), nn.MaxPool1d(2), nn.BatchNorm1d(3), nn.SyncBatchNorm(2),
    nn.UpsamplingNearest2d(scale_factor=2), nn.EmbeddingBag(3, 4, mode="sum", padding_idx=1),
    nn.Embedding(3, 4, sparse=True, max_norm=1.0), nn.Conv1d(1, 2, 3, padding="same"), nn.Conv3d(1, 2, 3, padding=1),
    nn.ConvTranspose1d(2, 2, 2, padding=1), nn.GRUCell(2, 3, bias=False), nn.LSTM(2, 3, bias=False, num_layers=3),
    nn.LayerNorm(4, bias=False), nn.ZeroPad2d((1, 2, 3, 4)), nn.Softmax(), nn.Dropout(0.1, True),
    nn.Unflatten(1, torch.Size([2, 3])), nn.AdaptiveAvgPool2d((None, 3)), nn.MaxPool2d((2, 3)), nn.Linear(2, 2), sep="\n")
print(nn.TransformerEncoderLayer(8, 2, 16), nn.ModuleList([nn.ReLU(), nn.ReLU()]),
    nn.ParameterList([nn.Parameter(torch.ones(2, 3))]), nn.CrossEntropyLoss(), nn.MSELoss(), nn.ModuleDict({"a": nn.Tanh()}))
class Mine(nn.Conv2d):
    pass
class Scale(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.d, self.net = d, Mine(1, 2, 3, padding=1)
        self.pool = nn.AvgPool2d(2, 1)
    def extra_repr(self):
        return f"d={self.d}, {super().extra_repr()!r}"
print(Scale(3))
for name, m in Scale(2).named_modules():
    print(repr(name), m)
