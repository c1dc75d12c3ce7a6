"""A table of tokens that grows, on the host and on the device; what was trained goes on from its checkpoint."""
import torch
from peft import LoraConfig, get_peft_model
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, OPTConfig, OPTForCausalLM, Trainer, TrainingArguments


class Numbers(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, i):
        ids = torch.arange(i, i + 12)
        return {"input_ids": ids, "labels": ids}


def make():
    model = GPT2LMHeadModel(GPT2Config(vocab_size=120, n_embd=32, n_layer=1, n_head=2, n_positions=32))
    model.resize_token_embeddings(128)
    return model


shared = dict(per_device_train_batch_size=4, logging_steps=1, report_to="none", disable_tqdm=True)
Trainer(model=make(), args=TrainingArguments("out", max_steps=2, save_steps=2, **shared), train_dataset=Numbers()).train()
again = Trainer(model_init=make, args=TrainingArguments("out", max_steps=3, save_strategy="no", **shared), train_dataset=Numbers())
again.train(resume_from_checkpoint=True)
model = make().cuda()
model.resize_token_embeddings(136)
opt = OPTConfig(vocab_size=128, hidden_size=32, ffn_dim=48, num_hidden_layers=1, num_attention_heads=2, max_position_embeddings=32, word_embed_proj_dim=32)
adapted = get_peft_model(OPTForCausalLM(opt), LoraConfig(r=2, target_modules=["q_proj"], init_lora_weights="olora")).cuda()
adapted.add_adapter("other", LoraConfig(r=4, target_modules=["q_proj"], init_lora_weights="gaussian"))
ids = torch.randint(0, 128, (2, 16), device="cuda")
adapted.eval()
with torch.no_grad():
    adapted(ids, adapter_names=["default", "other"])
