"""Llama, Mistral and Qwen2 with Hugging Face's modules, names and order of operations, in plain torch.nn. Trained as they train them:
labels go in with the tokens, no key-value cache, attention by scaled_dot_product_attention."""

import torch
import torch.nn.functional as F
from torch import nn

ACTIVATIONS = {"silu": nn.SiLU, "gelu": nn.GELU, "relu": nn.ReLU}


def differences(row, before):
    """torch.diff(row, prepend=before, dim=-1)"""
    whole = torch.cat([before, row], dim=-1)
    return whole[..., 1:] - whole[..., :-1]


def check_packing(position_ids, batch):
    """Looks whether a row holds several sequences; it does not."""
    if batch != position_ids.shape[0]:
        position_ids = position_ids.expand(batch, -1)
    before_first = position_ids[:, :1] - 1
    steps = differences(position_ids, before_first)
    sequence = (steps != 1).cumsum(-1)
    bool((sequence[:, -1] == 0).all())


class RMSNorm(nn.Module):
    def __init__(self, hidden_size, eps):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(hidden_size))
        self.variance_epsilon = eps

    def forward(self, hidden_states):
        input_dtype = hidden_states.dtype
        hidden_states = hidden_states.to(torch.float32)
        variance = hidden_states.pow(2).mean(-1, keepdim=True)
        hidden_states = hidden_states * torch.rsqrt(variance + self.variance_epsilon)
        return self.weight * hidden_states.to(input_dtype)


class RotaryEmbedding(nn.Module):
    def __init__(self, head_dim, rope_theta):
        super().__init__()
        inv_freq = 1.0 / (rope_theta ** (torch.arange(0, head_dim, 2, dtype=torch.int64).to(dtype=torch.float) / head_dim))
        self.register_buffer("inv_freq", inv_freq, persistent=False)
        self.register_buffer("original_inv_freq", inv_freq.clone(), persistent=False)

    @torch.no_grad()
    def forward(self, x, position_ids):
        inv_freq_expanded = self.inv_freq[None, :, None].float().expand(position_ids.shape[0], -1, 1).to(x.device)
        position_ids_expanded = position_ids[:, None, :].float()
        with torch.autocast(device_type="cuda", enabled=False):
            freqs = (inv_freq_expanded.float() @ position_ids_expanded.float()).transpose(1, 2)
            emb = torch.cat((freqs, freqs), dim=-1)
            cos = emb.cos() * 1.0
            sin = emb.sin() * 1.0
        return cos.to(dtype=x.dtype), sin.to(dtype=x.dtype)


def rotate_half(x):
    x1 = x[..., : x.shape[-1] // 2]
    x2 = x[..., x.shape[-1] // 2:]
    return torch.cat((-x2, x1), dim=-1)


def apply_rotary(q, k, cos, sin):
    cos = cos.unsqueeze(1)
    sin = sin.unsqueeze(1)
    q_embed = (q * cos) + (rotate_half(q) * sin)
    k_embed = (k * cos) + (rotate_half(k) * sin)
    return q_embed, k_embed


class Attention(nn.Module):
    def __init__(self, hidden_size, heads, kv_heads, head_dim, qkv_bias, out_bias, dropout):
        super().__init__()
        self.head_dim = head_dim
        self.dropout = dropout
        self.q_proj = nn.Linear(hidden_size, heads * head_dim, bias=qkv_bias)
        self.k_proj = nn.Linear(hidden_size, kv_heads * head_dim, bias=qkv_bias)
        self.v_proj = nn.Linear(hidden_size, kv_heads * head_dim, bias=qkv_bias)
        self.o_proj = nn.Linear(heads * head_dim, hidden_size, bias=out_bias)

    def attend(self, query, key, value):
        out = F.scaled_dot_product_attention(query, key, value, dropout_p=self.dropout if self.training else 0.0,
                                             is_causal=query.shape[2] > 1, enable_gqa=True)
        return out.transpose(1, 2).contiguous()

    def forward(self, hidden_states, position_embeddings):
        input_shape = hidden_states.shape[:-1]
        shape = (*input_shape, -1, self.head_dim)
        query = self.q_proj(hidden_states).view(shape).transpose(1, 2)
        key = self.k_proj(hidden_states).view(shape).transpose(1, 2)
        value = self.v_proj(hidden_states).view(shape).transpose(1, 2)
        cos, sin = position_embeddings
        query, key = apply_rotary(query, key, cos, sin)
        out = self.attend(query, key, value)
        out = out.reshape(*input_shape, -1).contiguous()
        out = self.o_proj(out)
        return out


class MLP(nn.Module):
    def __init__(self, hidden_size, intermediate_size, hidden_act, bias):
        super().__init__()
        self.gate_proj = nn.Linear(hidden_size, intermediate_size, bias=bias)
        self.up_proj = nn.Linear(hidden_size, intermediate_size, bias=bias)
        self.down_proj = nn.Linear(intermediate_size, hidden_size, bias=bias)
        self.act_fn = ACTIVATIONS[hidden_act]()

    def forward(self, x):
        down_proj = self.down_proj(self.act_fn(self.gate_proj(x)) * self.up_proj(x))
        return down_proj


class DecoderLayer(nn.Module):
    def __init__(self, hidden_size, heads, kv_heads, head_dim, intermediate_size, hidden_act, eps, qkv_bias, out_bias, mlp_bias, dropout):
        super().__init__()
        self.self_attn = Attention(hidden_size, heads, kv_heads, head_dim, qkv_bias, out_bias, dropout)
        self.mlp = MLP(hidden_size, intermediate_size, hidden_act, mlp_bias)
        self.input_layernorm = RMSNorm(hidden_size, eps)
        self.post_attention_layernorm = RMSNorm(hidden_size, eps)

    def forward(self, hidden_states, position_embeddings):
        residual = hidden_states
        hidden_states = self.input_layernorm(hidden_states)
        hidden_states = self.self_attn(hidden_states=hidden_states, position_embeddings=position_embeddings)
        hidden_states = residual + hidden_states
        residual = hidden_states
        hidden_states = self.post_attention_layernorm(hidden_states)
        hidden_states = self.mlp(hidden_states)
        hidden_states = residual + hidden_states
        return hidden_states


class DecoderModel(nn.Module):
    def __init__(self, vocab_size, hidden_size, layers, heads, kv_heads, head_dim, intermediate_size, hidden_act, eps, rope_theta,
                 qkv_bias, out_bias, mlp_bias, dropout, pad_token_id):
        super().__init__()
        self.embed_tokens = nn.Embedding(vocab_size, hidden_size, pad_token_id)
        self.layers = nn.ModuleList([DecoderLayer(hidden_size, heads, kv_heads, head_dim, intermediate_size, hidden_act, eps, qkv_bias,
                                                  out_bias, mlp_bias, dropout) for _ in range(layers)])
        self.norm = RMSNorm(hidden_size, eps)
        self.rotary_emb = RotaryEmbedding(head_dim, rope_theta)

    def forward(self, input_ids):
        inputs_embeds = self.embed_tokens(input_ids)
        position_ids = torch.arange(inputs_embeds.shape[1], device=inputs_embeds.device) + 0
        position_ids = position_ids.unsqueeze(0)
        check_packing(position_ids, inputs_embeds.shape[0])
        hidden_states = inputs_embeds
        position_embeddings = self.rotary_emb(hidden_states, position_ids=position_ids)
        for layer in self.layers:
            hidden_states = layer(hidden_states, position_embeddings=position_embeddings)
        hidden_states = self.norm(hidden_states)
        return hidden_states


def causal_loss(logits, labels, vocab_size):
    logits = logits.float()
    labels = F.pad(labels, (0, 1), value=-100)
    shift_labels = labels[..., 1:].contiguous()
    logits = logits.view(-1, vocab_size)
    shift_labels = shift_labels.view(-1)
    loss = F.cross_entropy(logits, shift_labels, ignore_index=-100)
    return loss


class CausalLM(nn.Module):
    def __init__(self, vocab_size, hidden_size, intermediate_size, num_hidden_layers, num_attention_heads, num_key_value_heads=None,
                 head_dim=None, hidden_act="silu", rms_norm_eps=1e-6, rope_theta=10000.0, attention_bias=False, output_bias=None,
                 mlp_bias=False, attention_dropout=0.0, pad_token_id=None, tie_word_embeddings=False):
        super().__init__()
        self.vocab_size = vocab_size
        self.model = DecoderModel(vocab_size, hidden_size, num_hidden_layers, num_attention_heads,
                                  num_key_value_heads or num_attention_heads, head_dim or hidden_size // num_attention_heads,
                                  intermediate_size, hidden_act, rms_norm_eps, rope_theta, attention_bias,
                                  attention_bias if output_bias is None else output_bias, mlp_bias, attention_dropout, pad_token_id)
        self.lm_head = nn.Linear(hidden_size, vocab_size, bias=False)
        if tie_word_embeddings:
            self.lm_head.weight = self.model.embed_tokens.weight

    def forward(self, input_ids, labels=None):
        hidden_states = self.model(input_ids)
        logits = self.lm_head(hidden_states[:, slice(0, None), :])
        loss = None
        if labels is not None:
            loss = causal_loss(logits, labels, self.vocab_size)
        return loss, logits


class LlamaForCausalLM(CausalLM):
    pass


class MistralForCausalLM(CausalLM):
    pass


class Qwen2ForCausalLM(CausalLM):
    """Biases in query, key and value, none in the output."""

    def __init__(self, **config):
        super().__init__(attention_bias=True, output_bias=False, **config)
