"""The Vision Transformer with Hugging Face's modules, names and order of operations, in plain torch.nn: the encoder with its pooler, and
the image classifier. Attention by scaled_dot_product_attention."""

import torch
import torch.nn.functional as F
from torch import nn

ACTIVATIONS = {"gelu": nn.GELU, "relu": nn.ReLU, "silu": nn.SiLU, "tanh": nn.Tanh}


class ViTPatchEmbeddings(nn.Module):
    def __init__(self, image_size, patch_size, num_channels, hidden_size):
        super().__init__()
        self.num_patches = (image_size // patch_size) ** 2
        self.projection = nn.Conv2d(num_channels, hidden_size, kernel_size=(patch_size, patch_size), stride=(patch_size, patch_size))

    def forward(self, pixel_values):
        return self.projection(pixel_values).flatten(2).transpose(1, 2)


class ViTEmbeddings(nn.Module):
    def __init__(self, image_size, patch_size, num_channels, hidden_size, dropout):
        super().__init__()
        self.cls_token = nn.Parameter(torch.randn(1, 1, hidden_size))
        self.patch_embeddings = ViTPatchEmbeddings(image_size, patch_size, num_channels, hidden_size)
        self.position_embeddings = nn.Parameter(torch.randn(1, self.patch_embeddings.num_patches + 1, hidden_size))
        self.dropout = nn.Dropout(dropout)

    def forward(self, pixel_values):
        embeddings = self.patch_embeddings(pixel_values)
        cls_tokens = self.cls_token.expand(pixel_values.shape[0], -1, -1)
        embeddings = torch.cat((cls_tokens, embeddings), dim=1)
        embeddings = embeddings + self.position_embeddings
        embeddings = self.dropout(embeddings)
        return embeddings


class ViTAttention(nn.Module):
    def __init__(self, hidden_size, heads, qkv_bias, dropout):
        super().__init__()
        self.head_dim = hidden_size // heads
        self.dropout = dropout
        self.q_proj = nn.Linear(hidden_size, hidden_size, bias=qkv_bias)
        self.k_proj = nn.Linear(hidden_size, hidden_size, bias=qkv_bias)
        self.v_proj = nn.Linear(hidden_size, hidden_size, bias=qkv_bias)
        self.o_proj = nn.Linear(hidden_size, hidden_size, bias=True)

    def attend(self, query, key, value):
        out = F.scaled_dot_product_attention(query, key, value, dropout_p=self.dropout if self.training else 0.0)
        return out.transpose(1, 2).contiguous()

    def forward(self, hidden_states):
        input_shape = hidden_states.shape[:-1]
        shape = (*input_shape, -1, self.head_dim)
        query = self.q_proj(hidden_states).view(shape).transpose(1, 2)
        key = self.k_proj(hidden_states).view(shape).transpose(1, 2)
        value = self.v_proj(hidden_states).view(shape).transpose(1, 2)
        out = self.attend(query, key, value)
        out = out.reshape(*input_shape, -1).contiguous()
        out = self.o_proj(out)
        return out


class ViTMLP(nn.Module):
    def __init__(self, hidden_size, intermediate_size, hidden_act):
        super().__init__()
        self.activation_fn = ACTIVATIONS[hidden_act]()
        self.fc1 = nn.Linear(hidden_size, intermediate_size)
        self.fc2 = nn.Linear(intermediate_size, hidden_size)

    def forward(self, hidden_states):
        hidden_states = self.fc1(hidden_states)
        hidden_states = self.activation_fn(hidden_states)
        hidden_states = self.fc2(hidden_states)
        return hidden_states


class ViTLayer(nn.Module):
    def __init__(self, hidden_size, heads, intermediate_size, hidden_act, eps, qkv_bias, attention_dropout, dropout):
        super().__init__()
        self.attention = ViTAttention(hidden_size, heads, qkv_bias, attention_dropout)
        self.layernorm_before = nn.LayerNorm(hidden_size, eps=eps)
        self.layernorm_after = nn.LayerNorm(hidden_size, eps=eps)
        self.mlp = ViTMLP(hidden_size, intermediate_size, hidden_act)
        self.dropout = nn.Dropout(dropout)

    def forward(self, hidden_states):
        residual = hidden_states
        hidden_states = self.layernorm_before(hidden_states)
        hidden_states = self.attention(hidden_states)
        hidden_states = self.dropout(hidden_states)
        hidden_states = hidden_states + residual
        residual = hidden_states
        hidden_states = self.layernorm_after(hidden_states)
        hidden_states = self.mlp(hidden_states)
        hidden_states = self.dropout(hidden_states)
        hidden_states = hidden_states + residual
        return hidden_states


class ViTPooler(nn.Module):
    def __init__(self, hidden_size, pooler_output_size, pooler_act):
        super().__init__()
        self.dense = nn.Linear(hidden_size, pooler_output_size)
        self.activation = ACTIVATIONS[pooler_act]()

    def forward(self, hidden_states):
        first_token = hidden_states[:, 0]
        pooled_output = self.dense(first_token)
        pooled_output = self.activation(pooled_output)
        return pooled_output


class ViTModel(nn.Module):
    def __init__(self, image_size=224, patch_size=16, num_channels=3, hidden_size=768, num_hidden_layers=12, num_attention_heads=12,
                 intermediate_size=3072, hidden_act="gelu", hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
                 layer_norm_eps=1e-12, qkv_bias=True, pooler_output_size=None, pooler_act="tanh", add_pooling_layer=True):
        super().__init__()
        self.embeddings = ViTEmbeddings(image_size, patch_size, num_channels, hidden_size, hidden_dropout_prob)
        self.layers = nn.ModuleList([ViTLayer(hidden_size, num_attention_heads, intermediate_size, hidden_act, layer_norm_eps, qkv_bias,
                                              attention_probs_dropout_prob, hidden_dropout_prob) for _ in range(num_hidden_layers)])
        self.layernorm = nn.LayerNorm(hidden_size, eps=layer_norm_eps)
        self.pooler = ViTPooler(hidden_size, pooler_output_size or hidden_size, pooler_act) if add_pooling_layer else None

    def forward(self, pixel_values):
        embedding_output = self.embeddings(pixel_values)
        hidden_states = embedding_output
        for layer in self.layers:
            hidden_states = layer(hidden_states)
        sequence_output = self.layernorm(hidden_states)
        pooled_output = self.pooler(sequence_output) if self.pooler is not None else None
        return sequence_output, pooled_output


class ViTForImageClassification(nn.Module):
    def __init__(self, hidden_size=768, num_labels=2, **config):
        super().__init__()
        self.num_labels = num_labels
        self.vit = ViTModel(hidden_size=hidden_size, add_pooling_layer=False, **config)
        self.classifier = nn.Linear(hidden_size, num_labels)

    def forward(self, pixel_values, labels=None):
        outputs = self.vit(pixel_values)
        sequence_output = outputs[0]
        pooled_output = sequence_output[:, 0, :]
        logits = self.classifier(pooled_output)
        loss = None
        if labels is not None:
            loss = F.cross_entropy(logits.view(-1, self.num_labels), labels.view(-1))
        return loss, logits
