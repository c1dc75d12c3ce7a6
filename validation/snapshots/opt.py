# OPT-125M as Hugging Face's transformers computes it without gradients, and training by finite differences: a random direction
# is added to the parameters, and the two losses tell how far to go along it.


class CachedLayer:
    def __init__(self):
        self.keys = None
        self.values = None

    def update(self, keys, values):
        # concatenated with an empty tensor, which takes no memory
        self.keys = torch.cat([keys], dim=-2)
        self.values = torch.cat([values], dim=-2)
        return self.keys, self.values


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.head_size = width // heads
        self.k_proj = nn.Linear(width, width)
        self.v_proj = nn.Linear(width, width)
        self.q_proj = nn.Linear(width, width)
        self.out_proj = nn.Linear(width, width)

    def forward(self, x, cached, mask):
        batch, length, width = x.shape
        query = self.q_proj(x) * self.head_size**-0.5
        query = query.view(batch, -1, self.heads, self.head_size).transpose(1, 2)
        keys = self.k_proj(x)
        values = self.v_proj(x)
        keys = keys.view(batch, -1, self.heads, self.head_size).transpose(1, 2)
        values = values.view(batch, -1, self.heads, self.head_size).transpose(1, 2)
        keys, values = cached.update(keys, values)
        out = F.scaled_dot_product_attention(query, keys, values, attn_mask=mask, scale=1.0)
        out = out.transpose(1, 2).contiguous()
        out = out.reshape(batch, length, -1).contiguous()
        out = self.out_proj(out)
        return out


class DecoderLayer(nn.Module):
    def __init__(self, width, heads, inner):
        super().__init__()
        self.self_attn = Attention(width, heads)
        self.self_attn_layer_norm = nn.LayerNorm(width)
        self.fc1 = nn.Linear(width, inner)
        self.fc2 = nn.Linear(inner, width)
        self.final_layer_norm = nn.LayerNorm(width)

    def forward(self, x, cached, mask):
        residual = x
        x = self.self_attn_layer_norm(x)
        x = self.self_attn(x, cached, mask)
        x = residual + x
        shape = x.shape
        x = x.reshape(-1, x.size(-1))
        residual = x
        x = self.final_layer_norm(x)
        x = self.fc1(x)
        x = F.relu(x)
        x = self.fc2(x)
        x = (residual + x).view(shape)
        return (x,)


def causal_mask_of(attention_mask, position):
    """what scaled_dot_product_attention takes where some row has padding, which the first line finds out"""
    torch.all(attention_mask == 1)
    batch, length = attention_mask.shape
    lowest = torch.finfo(torch.float32).min
    mask = torch.full((length, length), lowest, dtype=torch.float32, device="cuda")
    mask = torch.triu(mask, diagonal=1)
    mask *= torch.arange(length, device="cuda") > position.reshape(-1, 1)
    mask = mask[None, None, :, :].expand(batch, 1, -1, -1)
    mask = mask.clone()
    padding = mask[:, :, :, :length] + attention_mask[:, None, None, :]
    padding = padding == 0
    mask[:, :, :, :length] = mask[:, :, :, :length].masked_fill(padding, lowest)
    del padding
    mask = mask.mul(~torch.all(mask == lowest, dim=-1, keepdim=True))
    return mask


class Decoder(nn.Module):
    def __init__(self, words, positions, width, heads, inner, layers):
        super().__init__()
        self.embed_tokens = nn.Embedding(words, width)
        self.embed_positions = nn.Embedding(positions + 2, width)
        self.final_layer_norm = nn.LayerNorm(width)
        self.layers = nn.ModuleList([DecoderLayer(width, heads, inner) for _ in range(layers)])

    def forward(self, ids, attention_mask, cache, inputs_embeds=None, position_ids=None, cache_position=None):
        inputs_embeds = self.embed_tokens(ids)
        cache_position = torch.arange(ids.shape[1], device="cuda")
        causal_mask = causal_mask_of(attention_mask, cache_position)
        position_ids = torch.cumsum(attention_mask, dim=1)
        position_ids = (position_ids * attention_mask - 1).long()
        pos_embeds = self.embed_positions(position_ids + 2)
        x = inputs_embeds + pos_embeds
        for index, layer in enumerate(self.layers):
            outputs = layer(x, cache[index], causal_mask)
            x = outputs[0]
        x = self.final_layer_norm(x)
        return x


class Answer:
    def __init__(self, logits, cache):
        self.logits = logits
        self.cache = cache


class CausalLM(nn.Module):
    def __init__(self, words=50272, positions=2048, width=768, heads=12, inner=3072, layers=12):
        super().__init__()
        self.decoder = Decoder(words, positions, width, heads, inner, layers)
        self.lm_head = nn.Linear(width, words, bias=False)
        self.lm_head.weight = self.decoder.embed_tokens.weight
        self.layers = layers

    def forward(self, ids, attention_mask):
        cache = [CachedLayer() for _ in range(self.layers)]
        x = self.decoder(ids, attention_mask, cache)
        logits = self.lm_head(x).contiguous()
        return Answer(logits, cache)


def last_token(answer, labels):
    """of two words' logits the last ones, and which is right"""
    logits = answer.logits[:, -1, :]
    words = torch.empty(2, dtype=torch.long, device="cuda")
    chosen = logits.index_select(1, words)
    del words
    first = torch.empty((), dtype=torch.long, device="cuda")
    right = labels[:, -1] - first
    del first
    return chosen, right


def loss_of(answer, labels):
    chosen, right = last_token(answer, labels)
    return F.cross_entropy(chosen, right)


def accuracy_of(answer, labels):
    chosen, right = last_token(answer, labels)
    best = chosen.max(dim=1)[1]
    return (best == right).cpu()


def copy_out(model):
    """deepcopy() of every entry of the state, to the host: an empty tensor takes the copied memory"""
    for value in model.state_dict().values():
        copied = torch.empty_like(value)
        shell = torch.empty((), device="cuda")
        del shell
        del copied


def directions(model):
    """a random one a parameter, and so far along it"""
    for p in model.parameters():
        direction = torch.randn(p.shape, device="cuda")
        step = direction * 0.001
        p.add_(step)
        del step
        del direction


def estimate(model, ids, mask, labels):
    answer = model(ids, mask)
    before = loss_of(answer, labels)
    del answer
    directions(model)
    answer = model(ids, mask)
    after = loss_of(answer, labels)
    del answer
    directions(model)
    by = after - before
    slope = by / 0.001
    del by
    slopes = torch.stack([slope])
    del before
    del after
    del slope
    return slopes


def smooth(model, kept):
    """a running mean for each parameter, kept[i]"""
    for i, p in enumerate(model.parameters()):
        direction = torch.randn(p.shape, device="cuda")
        step = direction * 0.001
        del step
        squared = direction * (1 - torch.empty((), device="cuda"))
        a = kept[i] * 0.9
        b = squared * 0.1
        c = a + b
        del a
        del b
        kept[i] = c
        del c
        del direction
