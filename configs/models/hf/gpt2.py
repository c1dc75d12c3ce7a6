"""GPT-2 with Hugging Face's modules, names and order of operations, in plain torch.nn. Trained as they train it: labels go in with the
tokens, no key-value cache, attention by scaled_dot_product_attention."""

import math

import torch
import torch.nn.functional as F
from torch import nn

ACTIVATIONS = {"gelu": F.gelu, "gelu_new": None, "relu": F.relu, "silu": F.silu, "tanh": torch.tanh}


def gelu_new(x):
    return 0.5 * x * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * torch.pow(x, 3.0))))


class Activation(nn.Module):
    def __init__(self, name):
        super().__init__()
        self.function = gelu_new if name == "gelu_new" else ACTIVATIONS[name]

    def forward(self, x):
        return self.function(x)


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


class Conv1D(nn.Module):
    """A linear layer whose weight is stored transposed."""

    def __init__(self, nf, nx):
        super().__init__()
        self.nf = nf
        self.weight = nn.Parameter(torch.empty(nx, nf))
        self.bias = nn.Parameter(torch.zeros(nf))

    def forward(self, x):
        size = x.size()[:-1] + (self.nf,)
        x = torch.addmm(self.bias, x.view(-1, x.size(-1)), self.weight)
        x = x.view(size)
        return x


class GPT2Attention(nn.Module):
    def __init__(self, hidden_size, num_attention_heads, attn_pdrop, resid_pdrop):
        super().__init__()
        self.hidden_size = hidden_size
        self.head_dim = hidden_size // num_attention_heads
        self.c_attn = Conv1D(3 * hidden_size, hidden_size)
        self.c_proj = Conv1D(hidden_size, hidden_size)
        self.attn_dropout = nn.Dropout(attn_pdrop)
        self.resid_dropout = nn.Dropout(resid_pdrop)

    def attend(self, query, key, value):
        out = F.scaled_dot_product_attention(
            query, key, value, dropout_p=self.attn_dropout.p if self.training else 0.0, is_causal=query.shape[2] > 1)
        return out.transpose(1, 2).contiguous()

    def forward(self, hidden_states):
        query, key, value = self.c_attn(hidden_states).split(self.hidden_size, dim=2)
        shape = (*key.shape[:-1], -1, self.head_dim)
        key = key.view(shape).transpose(1, 2)
        value = value.view(shape).transpose(1, 2)
        query = query.view(shape).transpose(1, 2)
        out = self.attend(query, key, value)
        out = out.reshape(*out.shape[:-2], -1).contiguous()
        out = self.c_proj(out)
        out = self.resid_dropout(out)
        return out


class GPT2MLP(nn.Module):
    def __init__(self, inner, hidden_size, activation_function, resid_pdrop):
        super().__init__()
        self.c_fc = Conv1D(inner, hidden_size)
        self.c_proj = Conv1D(hidden_size, inner)
        self.act = Activation(activation_function)
        self.dropout = nn.Dropout(resid_pdrop)

    def forward(self, hidden_states):
        hidden_states = self.c_fc(hidden_states)
        hidden_states = self.act(hidden_states)
        hidden_states = self.c_proj(hidden_states)
        hidden_states = self.dropout(hidden_states)
        return hidden_states


class GPT2Block(nn.Module):
    def __init__(self, hidden_size, num_attention_heads, inner, activation_function, attn_pdrop, resid_pdrop, eps):
        super().__init__()
        self.ln_1 = nn.LayerNorm(hidden_size, eps=eps)
        self.attn = GPT2Attention(hidden_size, num_attention_heads, attn_pdrop, resid_pdrop)
        self.ln_2 = nn.LayerNorm(hidden_size, eps=eps)
        self.mlp = GPT2MLP(inner, hidden_size, activation_function, resid_pdrop)

    def forward(self, hidden_states):
        residual = hidden_states
        hidden_states = self.ln_1(hidden_states)
        attn_output = self.attn(hidden_states)
        hidden_states = attn_output + residual
        residual = hidden_states
        hidden_states = self.ln_2(hidden_states)
        feed_forward = self.mlp(hidden_states)
        hidden_states = residual + feed_forward
        return hidden_states


class GPT2Model(nn.Module):
    def __init__(self, vocab_size, n_positions, n_embd, n_layer, n_head, n_inner, activation_function, resid_pdrop, embd_pdrop,
                 attn_pdrop, layer_norm_epsilon):
        super().__init__()
        self.wte = nn.Embedding(vocab_size, n_embd)
        self.wpe = nn.Embedding(n_positions, n_embd)
        self.drop = nn.Dropout(embd_pdrop)
        self.h = nn.ModuleList([GPT2Block(n_embd, n_head, n_inner or 4 * n_embd, activation_function, attn_pdrop, resid_pdrop,
                                          layer_norm_epsilon) for _ in range(n_layer)])
        self.ln_f = nn.LayerNorm(n_embd, eps=layer_norm_epsilon)

    def forward(self, input_ids):
        input_shape = input_ids.size()
        input_ids = input_ids.view(-1, input_shape[-1])
        inputs_embeds = self.wte(input_ids)
        position_ids = torch.arange(inputs_embeds.shape[1], device=inputs_embeds.device) + 0
        position_ids = position_ids.unsqueeze(0)
        position_embeds = self.wpe(position_ids)
        hidden_states = inputs_embeds + position_embeds.to(inputs_embeds.device)
        check_packing(position_ids, inputs_embeds.shape[0])
        hidden_states = self.drop(hidden_states)
        output_shape = (-1,) + input_shape[1:] + (hidden_states.size(-1),)
        for block in self.h:
            hidden_states = block(hidden_states)
        hidden_states = self.ln_f(hidden_states)
        hidden_states = hidden_states.view(output_shape)
        return hidden_states


def causal_loss(logits, labels, vocab_size):
    logits = logits.float()
    labels = F.pad(labels, (0, 1), value=-100)
    shift_labels = labels[..., 1:].contiguous()
    logits = logits.view(-1, vocab_size)
    shift_labels = shift_labels.view(-1)
    loss = F.cross_entropy(logits, shift_labels, ignore_index=-100)
    return loss


class GPT2LMHeadModel(nn.Module):
    def __init__(self, vocab_size=50257, n_positions=1024, n_embd=768, n_layer=12, n_head=12, n_inner=None,
                 activation_function="gelu_new", resid_pdrop=0.1, embd_pdrop=0.1, attn_pdrop=0.1, layer_norm_epsilon=1e-5,
                 tie_word_embeddings=True):
        super().__init__()
        self.vocab_size = vocab_size
        self.transformer = GPT2Model(vocab_size, n_positions, n_embd, n_layer, n_head, n_inner, activation_function, resid_pdrop,
                                     embd_pdrop, attn_pdrop, layer_norm_epsilon)
        self.lm_head = nn.Linear(n_embd, vocab_size, bias=False)
        if tie_word_embeddings:
            self.lm_head.weight = self.transformer.wte.weight

    def forward(self, input_ids, labels=None):
        hidden_states = self.transformer(input_ids)
        logits = self.lm_head(hidden_states[:, slice(0, None), :])
        loss = None
        if labels is not None:
            loss = causal_loss(logits, labels, self.vocab_size)
        return loss, logits
