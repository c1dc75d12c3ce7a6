"""BERT with Hugging Face's modules, names and order of operations, in plain torch.nn: the encoder, and its masked language model.
Attention by scaled_dot_product_attention, no attention mask."""

import torch
import torch.nn.functional as F
from torch import nn

ACTIVATIONS = {"gelu": nn.GELU, "relu": nn.ReLU, "silu": nn.SiLU}


class BertEmbeddings(nn.Module):
    def __init__(self, vocab_size, hidden_size, positions, types, eps, dropout, pad_token_id):
        super().__init__()
        self.word_embeddings = nn.Embedding(vocab_size, hidden_size, padding_idx=pad_token_id)
        self.position_embeddings = nn.Embedding(positions, hidden_size)
        self.token_type_embeddings = nn.Embedding(types, hidden_size)
        self.LayerNorm = nn.LayerNorm(hidden_size, eps=eps)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("position_ids", torch.arange(positions).expand((1, -1)), persistent=False)
        self.register_buffer("token_type_ids", torch.zeros(self.position_ids.size(), dtype=torch.long), persistent=False)

    def forward(self, input_ids):
        batch, length = input_ids.size()
        position_ids = self.position_ids[:, 0:length]
        buffered = self.token_type_ids.expand(position_ids.shape[0], -1)
        buffered = torch.gather(buffered, dim=1, index=position_ids)
        token_type_ids = buffered.expand(batch, length)
        inputs_embeds = self.word_embeddings(input_ids)
        token_type_embeddings = self.token_type_embeddings(token_type_ids)
        embeddings = inputs_embeds + token_type_embeddings
        position_embeddings = self.position_embeddings(position_ids)
        embeddings = embeddings + position_embeddings
        embeddings = self.LayerNorm(embeddings)
        embeddings = self.dropout(embeddings)
        return embeddings


class BertSelfAttention(nn.Module):
    def __init__(self, hidden_size, heads, dropout):
        super().__init__()
        self.head_size = hidden_size // heads
        self.query = nn.Linear(hidden_size, hidden_size)
        self.key = nn.Linear(hidden_size, hidden_size)
        self.value = nn.Linear(hidden_size, hidden_size)
        self.dropout = nn.Dropout(dropout)

    def attend(self, query, key, value):
        out = F.scaled_dot_product_attention(query, key, value, dropout_p=self.dropout.p if self.training else 0.0)
        return out.transpose(1, 2).contiguous()

    def forward(self, hidden_states):
        input_shape = hidden_states.shape[:-1]
        shape = (*input_shape, -1, self.head_size)
        query = self.query(hidden_states).view(*shape).transpose(1, 2)
        key = self.key(hidden_states).view(*shape).transpose(1, 2)
        value = self.value(hidden_states).view(*shape).transpose(1, 2)
        out = self.attend(query, key, value)
        out = out.reshape(*input_shape, -1).contiguous()
        return out


class BertSelfOutput(nn.Module):
    def __init__(self, inner, hidden_size, eps, dropout):
        super().__init__()
        self.dense = nn.Linear(inner, hidden_size)
        self.LayerNorm = nn.LayerNorm(hidden_size, eps=eps)
        self.dropout = nn.Dropout(dropout)

    def forward(self, hidden_states, input_tensor):
        hidden_states = self.dense(hidden_states)
        hidden_states = self.dropout(hidden_states)
        hidden_states = self.LayerNorm(hidden_states + input_tensor)
        return hidden_states


class BertAttention(nn.Module):
    def __init__(self, hidden_size, heads, eps, attention_dropout, dropout):
        super().__init__()
        self.self = BertSelfAttention(hidden_size, heads, attention_dropout)
        self.output = BertSelfOutput(hidden_size, hidden_size, eps, dropout)

    def forward(self, hidden_states):
        attention_output = self.self(hidden_states)
        attention_output = self.output(attention_output, hidden_states)
        return attention_output


class BertIntermediate(nn.Module):
    def __init__(self, hidden_size, intermediate_size, hidden_act):
        super().__init__()
        self.dense = nn.Linear(hidden_size, intermediate_size)
        self.intermediate_act_fn = ACTIVATIONS[hidden_act]()

    def forward(self, hidden_states):
        hidden_states = self.dense(hidden_states)
        hidden_states = self.intermediate_act_fn(hidden_states)
        return hidden_states


class BertLayer(nn.Module):
    def __init__(self, hidden_size, heads, intermediate_size, hidden_act, eps, attention_dropout, dropout):
        super().__init__()
        self.attention = BertAttention(hidden_size, heads, eps, attention_dropout, dropout)
        self.intermediate = BertIntermediate(hidden_size, intermediate_size, hidden_act)
        self.output = BertSelfOutput(intermediate_size, hidden_size, eps, dropout)

    def feed_forward(self, attention_output):
        intermediate_output = self.intermediate(attention_output)
        layer_output = self.output(intermediate_output, attention_output)
        return layer_output

    def forward(self, hidden_states):
        attention_output = self.attention(hidden_states)
        layer_output = self.feed_forward(attention_output)
        return layer_output


class BertEncoder(nn.Module):
    def __init__(self, layers, *config):
        super().__init__()
        self.layer = nn.ModuleList([BertLayer(*config) for _ in range(layers)])

    def forward(self, hidden_states):
        for layer in self.layer:
            hidden_states = layer(hidden_states)
        return hidden_states


class BertPooler(nn.Module):
    def __init__(self, hidden_size):
        super().__init__()
        self.dense = nn.Linear(hidden_size, hidden_size)
        self.activation = nn.Tanh()

    def forward(self, hidden_states):
        first_token = hidden_states[:, 0]
        pooled_output = self.dense(first_token)
        pooled_output = self.activation(pooled_output)
        return pooled_output


class BertModel(nn.Module):
    def __init__(self, vocab_size=30522, hidden_size=768, num_hidden_layers=12, num_attention_heads=12, intermediate_size=3072,
                 hidden_act="gelu", hidden_dropout_prob=0.1, attention_probs_dropout_prob=0.1, max_position_embeddings=512,
                 type_vocab_size=2, layer_norm_eps=1e-12, pad_token_id=0, add_pooling_layer=True):
        super().__init__()
        self.embeddings = BertEmbeddings(vocab_size, hidden_size, max_position_embeddings, type_vocab_size, layer_norm_eps,
                                         hidden_dropout_prob, pad_token_id)
        self.encoder = BertEncoder(num_hidden_layers, hidden_size, num_attention_heads, intermediate_size, hidden_act, layer_norm_eps,
                                   attention_probs_dropout_prob, hidden_dropout_prob)
        self.pooler = BertPooler(hidden_size) if add_pooling_layer else None

    def forward(self, input_ids):
        embedding_output = self.embeddings(input_ids)
        sequence_output = self.encoder(embedding_output)
        pooled_output = self.pooler(sequence_output) if self.pooler is not None else None
        return sequence_output, pooled_output


class BertPredictionHeadTransform(nn.Module):
    def __init__(self, hidden_size, hidden_act, eps):
        super().__init__()
        self.dense = nn.Linear(hidden_size, hidden_size)
        self.transform_act_fn = ACTIVATIONS[hidden_act]()
        self.LayerNorm = nn.LayerNorm(hidden_size, eps=eps)

    def forward(self, hidden_states):
        hidden_states = self.dense(hidden_states)
        hidden_states = self.transform_act_fn(hidden_states)
        hidden_states = self.LayerNorm(hidden_states)
        return hidden_states


class BertLMPredictionHead(nn.Module):
    def __init__(self, vocab_size, hidden_size, hidden_act, eps):
        super().__init__()
        self.transform = BertPredictionHeadTransform(hidden_size, hidden_act, eps)
        self.decoder = nn.Linear(hidden_size, vocab_size, bias=True)
        self.bias = nn.Parameter(torch.zeros(vocab_size))

    def forward(self, hidden_states):
        hidden_states = self.transform(hidden_states)
        hidden_states = self.decoder(hidden_states)
        return hidden_states


class BertOnlyMLMHead(nn.Module):
    def __init__(self, vocab_size, hidden_size, hidden_act, eps):
        super().__init__()
        self.predictions = BertLMPredictionHead(vocab_size, hidden_size, hidden_act, eps)

    def forward(self, sequence_output):
        return self.predictions(sequence_output)


class BertForMaskedLM(nn.Module):
    def __init__(self, vocab_size=30522, hidden_size=768, hidden_act="gelu", layer_norm_eps=1e-12, tie_word_embeddings=True, **config):
        super().__init__()
        self.vocab_size = vocab_size
        self.bert = BertModel(vocab_size=vocab_size, hidden_size=hidden_size, hidden_act=hidden_act, layer_norm_eps=layer_norm_eps,
                              add_pooling_layer=False, **config)
        self.cls = BertOnlyMLMHead(vocab_size, hidden_size, hidden_act, layer_norm_eps)
        self.cls.predictions.decoder.bias = self.cls.predictions.bias
        if tie_word_embeddings:
            self.cls.predictions.decoder.weight = self.bert.embeddings.word_embeddings.weight

    def forward(self, input_ids, labels=None):
        outputs = self.bert(input_ids)
        sequence_output = outputs[0]
        logits = self.cls(sequence_output)
        loss = None
        if labels is not None:
            loss = F.cross_entropy(logits.view(-1, self.vocab_size), labels.view(-1))
        return loss, logits
