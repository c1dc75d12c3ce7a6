"""A decoder in the manner of Hugging Face, trained for two steps: what a user might hand to tidemark record."""
import torch
from torch import nn
import torch.nn.functional as F


class Config:
    def __init__(self, **kw):
        self.hidden_size = kw.get("hidden_size", 1024)
        self.layers = kw.get("num_hidden_layers", 12)
        self.heads = kw.get("num_attention_heads", 16)
        self.vocab_size = kw.get("vocab_size", 32000)


class Attention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.heads = config.heads
        self.q_proj = nn.Linear(config.hidden_size, config.hidden_size, bias=False)
        self.k_proj = nn.Linear(config.hidden_size, config.hidden_size, bias=False)
        self.v_proj = nn.Linear(config.hidden_size, config.hidden_size, bias=False)
        self.o_proj = nn.Linear(config.hidden_size, config.hidden_size, bias=False)

    def forward(self, hidden):
        b, t, d = hidden.shape
        q, k, v = (p(hidden).view(b, t, self.heads, d // self.heads).transpose(1, 2) for p in (self.q_proj, self.k_proj, self.v_proj))
        out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o_proj(out.transpose(1, 2).reshape(b, t, d))


class RMSNorm(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d))

    def forward(self, x):
        return self.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6))


class Layer(nn.Module):
    def __init__(self, config):
        super().__init__()
        d = config.hidden_size
        self.input_layernorm = RMSNorm(d)
        self.self_attn = Attention(config)
        self.post_attention_layernorm = RMSNorm(d)
        self.gate_proj = nn.Linear(d, 4 * d, bias=False)
        self.up_proj = nn.Linear(d, 4 * d, bias=False)
        self.down_proj = nn.Linear(4 * d, d, bias=False)

    def forward(self, x):
        x = x + self.self_attn(self.input_layernorm(x))
        h = self.post_attention_layernorm(x)
        return x + self.down_proj(F.silu(self.gate_proj(h)) * self.up_proj(h))


class CausalLM(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.embed_tokens = nn.Embedding(config.vocab_size, config.hidden_size)
        self.layers = nn.ModuleList([Layer(config) for _ in range(config.layers)])
        self.norm = RMSNorm(config.hidden_size)
        self.lm_head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)

    def forward(self, input_ids, labels):
        x = self.embed_tokens(input_ids)
        for layer in self.layers:
            x = layer(x)
        logits = self.lm_head(self.norm(x))
        return F.cross_entropy(logits[:, :-1].reshape(-1, logits.size(-1)), labels[:, 1:].reshape(-1))


batch_size = 4
steps = 2
device = "cuda"
model = CausalLM(Config()).to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
for step in range(steps):
    ids = torch.zeros(batch_size, 1024, dtype=torch.long).to(device)
    loss = model(ids, ids)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print("step", step, "loss", loss.item())
