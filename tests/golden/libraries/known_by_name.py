import os

import timm
import torch
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForSequenceClassification

# Several threads load in an order of chance.
os.environ["HF_DEACTIVATE_ASYNC_LOAD"] = "1"

# Names of a hub, without a network: parameters as their authors publish them, loaded onto the host and onto the device.
PUBLISHED = {
    "openai-community/gpt2-medium": 354_823_168,
    "meta-llama/Llama-3.2-1B": 1_235_814_400,
    "microsoft/Phi-3-mini-4k-instruct": 3_821_079_552,
    "Qwen/Qwen3-0.6B": 596_049_920,
    "google/gemma-2-2b": 2_614_341_888,
}
for name, published in PUBLISHED.items():
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(AutoConfig.from_pretrained(name))
    assert sum(p.numel() for p in model.parameters()) == published, name

decoder = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-0.5B-Instruct", dtype=torch.bfloat16, device_map="cuda")
ids = torch.randint(0, 1000, (2, 64), device="cuda")
decoder(input_ids=ids, labels=ids).loss.backward()
del decoder

model = AutoModelForSequenceClassification.from_pretrained("bert-base-uncased", num_labels=3).to("cuda")
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-5)
for _ in range(2):
    ids = torch.randint(0, 1000, (4, 64), device="cuda")
    labels = torch.tensor([0, 1, 2, 0], device="cuda")
    model(input_ids=ids, attention_mask=torch.ones_like(ids), labels=labels).loss.backward()
    optimizer.step()
    optimizer.zero_grad()

network = timm.create_model("resnet18", pretrained=True, num_classes=5).cuda()
network(torch.randn(2, 3, 64, 64, device="cuda")).sum().backward()
