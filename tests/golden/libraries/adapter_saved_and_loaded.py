import torch
from peft import LoraConfig, PeftModel, get_peft_model
from transformers import OPTConfig, OPTForCausalLM

config = OPTConfig(vocab_size=400, hidden_size=64, ffn_dim=128, num_hidden_layers=1, num_attention_heads=4)
lora = LoraConfig(r=8, target_modules=["q_proj", "v_proj"], task_type="CAUSAL_LM", use_rslora=True)
model = get_peft_model(OPTForCausalLM(config), lora).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-4)
tokens = torch.randint(4, 400, (2, 32), device="cuda")
loss = model(input_ids=tokens, labels=tokens, attention_mask=torch.ones_like(tokens)).loss
loss.backward()
optimizer.step()
model.save_pretrained("adapter")
del model, optimizer, loss
model = PeftModel.from_pretrained(OPTForCausalLM(config).cuda(), "adapter", is_trainable=True)
model(input_ids=tokens, labels=tokens, attention_mask=torch.ones_like(tokens)).loss.backward()
