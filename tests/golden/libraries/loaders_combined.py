"""Two loaders beside each other in Lightning, and single tokens that an adapter trains."""
import lightning as L
import torch
from lightning.pytorch.utilities import CombinedLoader
from peft import LoraConfig, get_peft_model
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from transformers import Qwen2Config, Qwen2ForCausalLM


class Both(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 2)

    def training_step(self, batch, batch_idx):
        return self.layer(batch["left"][0]).sum() + self.layer(batch["right"][0]).pow(2).mean()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


data = TensorDataset(torch.randn(16, 8))
loaders = CombinedLoader({"left": DataLoader(data, 4), "right": DataLoader(data, 6)}, mode="max_size_cycle")
options = dict(logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False)
L.Trainer(max_epochs=1, accelerator="gpu", devices=1, **options).fit(Both(), loaders)

config = Qwen2Config(vocab_size=96, hidden_size=32, intermediate_size=48, num_hidden_layers=1, num_attention_heads=2, num_key_value_heads=1)
model = get_peft_model(Qwen2ForCausalLM(config), LoraConfig(r=2, target_modules=["q_proj"], trainable_token_indices={"embed_tokens": [1, 5]})).cuda()
optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-3)
for _ in range(2):
    ids = torch.randint(0, 96, (2, 12), device="cuda")
    model(input_ids=ids, labels=ids).loss.backward()
    optimizer.step()
    optimizer.zero_grad()
