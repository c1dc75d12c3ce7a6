import torch
from transformers import RobertaConfig, RobertaForTokenClassification

config = RobertaConfig(
    vocab_size=1500, hidden_size=128, num_hidden_layers=2, num_attention_heads=4, intermediate_size=512, num_labels=5
)
model = RobertaForTokenClassification(config).to("cuda")
model.gradient_checkpointing_enable()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for _ in range(2):
    tokens = torch.randint(5, 1500, (4, 48), device="cuda")
    out = model(tokens, attention_mask=torch.ones_like(tokens), labels=torch.randint(0, 5, (4, 48), device="cuda"))
    out.loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
