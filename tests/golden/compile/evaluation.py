"""Without gradients: an encoder of torch's own, compiled. evaluation.py [BACKEND]"""
import sys

import torch
import torch.nn as nn

backend = sys.argv[1] if len(sys.argv) > 1 else "inductor"
layer = nn.TransformerEncoderLayer(256, 4, 1024, activation="gelu", batch_first=True, norm_first=True)
model = nn.Sequential(nn.TransformerEncoder(layer, 3, enable_nested_tensor=False), nn.Linear(256, 50)).cuda().eval()
compiled = torch.compile(model, backend=backend)
with torch.no_grad():
    for i in range(3):
        probabilities = compiled(torch.randn(16, 128, 256, device="cuda")).softmax(-1)
        best = probabilities.argmax(-1)
