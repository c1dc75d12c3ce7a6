"""Trains a small text model, as scripts do: arguments, a data set, autocast, AdamW, a loss that is printed."""

import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, default=32)
parser.add_argument("--lr", type=float, default=3e-4)
args = parser.parse_args()

texts = torch.randint(50257, (512, 256))
loader = DataLoader(TensorDataset(texts), batch_size=args.batch_size, shuffle=True)

layer = nn.TransformerEncoderLayer(512, 8, 2048, batch_first=True, norm_first=True)
model = nn.Sequential(nn.Embedding(50257, 512), nn.TransformerEncoder(layer, 8), nn.Linear(512, 50257)).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)

for step, (tokens,) in enumerate(loader):
    tokens = tokens.cuda(non_blocking=True)
    with torch.autocast("cuda", dtype=torch.bfloat16):
        logits = model(tokens[:, :-1])
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    if step % 8 == 0:
        print(f"step {step}: loss {loss.item():.3f}")
