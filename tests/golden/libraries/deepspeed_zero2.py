# ZeRO-2 in half precision, two micro-batches a step.
# tidemark: --rank 0 --world 4
import deepspeed
import torch
import torch.nn as nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x):
        return x + self.down(nn.functional.gelu(self.up(self.norm(x))))


model = nn.Sequential(*[Block(256) for _ in range(3)], nn.Linear(256, 100))
config = {
    "train_micro_batch_size_per_gpu": 8,
    "gradient_accumulation_steps": 2,
    "optimizer": {"type": "AdamW", "params": {"lr": 1e-4, "torch_adam": True}},
    "fp16": {"enabled": True},
    "zero_optimization": {"stage": 2, "overlap_comm": True, "reduce_bucket_size": 1000000},
    "gradient_clipping": 1.0,
}
engine, optimizer, _, _ = deepspeed.initialize(model=model, model_parameters=model.parameters(), config=config)
for step in range(4):
    x = torch.randn(8, 64, 256, device=engine.device, dtype=torch.half)
    y = torch.randint(0, 100, (8, 64), device=engine.device)
    loss = nn.functional.cross_entropy(engine(x).float().flatten(0, 1), y.flatten())
    engine.backward(loss)
    engine.step()
