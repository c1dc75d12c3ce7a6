"""torch's own Transformer encoder, as a classifier."""

import torch
from torch import nn

from workloads import class_loss, workload


class EncoderClassifier(nn.Module):
    """torch's own TransformerEncoder, the article's d_model / nhead / num_layers"""

    def __init__(self, vocab, d_model, nhead, num_layers, ffn, dropout, classes, norm_first):
        super().__init__()
        self.embed = nn.Embedding(vocab, d_model)
        layer = nn.TransformerEncoderLayer(d_model, nhead, ffn, dropout, batch_first=True, norm_first=norm_first)
        self.encoder = nn.TransformerEncoder(layer, num_layers, enable_nested_tensor=False)
        self.head = nn.Linear(d_model, classes)

    def forward(self, ids):
        return self.head(self.encoder(self.embed(ids)).mean(dim=1))


def token_class(batch, image, seq, a):
    return [torch.zeros(batch, seq, dtype=torch.long), torch.zeros(batch, dtype=torch.long)]


@workload("transformer", token_class, class_loss, seq=128, vocab=10000, d_model=512, nhead=8, num_layers=6, ffn=2048, dropout=0.1,
          classes=10, norm_first=False)
def transformer(vocab, d_model, nhead, num_layers, ffn, dropout, classes, norm_first):
    return EncoderClassifier(vocab, d_model, nhead, num_layers, ffn, dropout, classes, norm_first)
