"""Language models of LSTM and GRU layers."""

from torch import nn

from workloads import token_loss, tokens, workload


class Recurrent(nn.Module):
    def __init__(self, kind, vocab, d, hidden, layers, dropout, bidirectional):
        super().__init__()
        self.embed = nn.Embedding(vocab, d)
        self.rnn = {"lstm": nn.LSTM, "gru": nn.GRU, "rnn": nn.RNN}[kind](d, hidden, layers, batch_first=True, dropout=dropout, bidirectional=bidirectional)
        self.head = nn.Linear(hidden * (2 if bidirectional else 1), vocab)

    def forward(self, ids):
        out, _ = self.rnn(self.embed(ids))
        return self.head(out)


def register_recurrent(name):
    @workload(name, tokens, token_loss, needs=("no-cudnn",), seq=35, vocab=10000, d=256, hidden=512, layers=2, dropout=0.2, bidirectional=False)
    def build(vocab, d, hidden, layers, dropout, bidirectional):
        return Recurrent(name, vocab, d, hidden, layers, dropout, bidirectional)


for _name in ("lstm", "gru"):
    register_recurrent(_name)
