import torch
from transformers import AutoModelForCausalLM, Qwen2Config

config = Qwen2Config(
    vocab_size=2000, hidden_size=128, intermediate_size=352, num_hidden_layers=3, num_attention_heads=4, num_key_value_heads=2
)
model = AutoModelForCausalLM.from_config(config).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
for length in (64, 96):
    tokens = torch.randint(2, 2000, (2, length)).cuda()
    loss = model(input_ids=tokens, labels=tokens).loss
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
model.eval()
prompt = torch.randint(2, 2000, (1, 8)).cuda()
model.generate(prompt, max_new_tokens=4, do_sample=False, pad_token_id=0)
