"""Tokenizers of the known models: how many tokens they have, and which of them are special."""
import json


def _tokens(single, pair, longest, **special):
    """Templates of what stands around a text A and a pair A, B, with types behind a colon; (token, number) by role."""
    return single, pair, longest, special


_BERT = _tokens(
    "cls A sep", "cls A sep B:1 sep:1", 512,
    pad=("[PAD]", 0), unk=("[UNK]", 100), cls=("[CLS]", 101), sep=("[SEP]", 102), mask=("[MASK]", 103),
)  # fmt: skip
_ALBERT = _tokens(
    "cls A sep", "cls A sep B:1 sep:1", 512,
    pad=("<pad>", 0), unk=("<unk>", 1), cls=("[CLS]", 2), sep=("[SEP]", 3), mask=("[MASK]", 4),
)  # fmt: skip
_DEBERTA = _tokens(
    "cls A sep", "cls A sep B:1 sep:1", None,
    pad=("[PAD]", 0), cls=("[CLS]", 1), sep=("[SEP]", 2), unk=("[UNK]", 3), mask=("[MASK]", 128000),
)  # fmt: skip


def _roberta(mask):
    return _tokens(
        "bos A eos", "bos A eos eos B eos", 512, bos=("<s>", 0), pad=("<pad>", 1), eos=("</s>", 2), unk=("<unk>", 3),
        cls=("<s>", 0), sep=("</s>", 2), mask=("<mask>", mask),
    )  # fmt: skip


def _one(token, number, longest):
    """a single special token for all ends"""
    return _tokens("A", "A B", longest, bos=(token, number), eos=(token, number), unk=(token, number))


_GPT2 = _one("<|endoftext|>", 50256, 1024)
_NEOX = _one("<|endoftext|>", 0, None)
_SMOL = _one("<|endoftext|>", 0, 8192)
_OPT = _tokens("bos A", "bos A bos B", None, bos=("</s>", 2), eos=("</s>", 2), pad=("<pad>", 1), unk=("</s>", 2))
_T5 = _tokens("A eos", "A eos B eos", 512, pad=("<pad>", 0), eos=("</s>", 1), unk=("<unk>", 2))
_LLAMA_2 = _tokens("bos A", "bos A bos B", None, unk=("<unk>", 0), bos=("<s>", 1), eos=("</s>", 2))
_LLAMA_3 = _tokens(
    "bos A", "bos A bos B", 131072, bos=("<|begin_of_text|>", 128000), eos=("<|end_of_text|>", 128001)
)  # fmt: skip
_QWEN = _tokens("A", "A B", 131072, eos=("<|im_end|>", 151645), pad=("<|endoftext|>", 151643))
_GEMMA = _tokens(
    "bos A", "bos A bos B", None, pad=("<pad>", 0), eos=("<eos>", 1), bos=("<bos>", 2), unk=("<unk>", 3)
)  # fmt: skip
_PHI_3 = _tokens(
    "A", "A B", 4096,
    unk=("<unk>", 0), bos=("<s>", 1), eos=("<|endoftext|>", 32000), pad=("<|endoftext|>", 32000),
)  # fmt: skip
_CLIP = _tokens(
    "bos A eos", "bos A eos B eos", 77, bos=("<|startoftext|>", 49406), eos=("<|endoftext|>", 49407),
    pad=("<|endoftext|>", 49407), unk=("<|endoftext|>", 49407),
)  # fmt: skip

# By the kind of model: the tokens, and the tokenizer's own size where it is not the model's.
_OF_KIND = {
    "bert": (_BERT, None), "distilbert": (_BERT, None), "electra": (_BERT, None), "albert": (_ALBERT, None),
    "roberta": (_roberta(50264), None), "xlm-roberta": (_roberta(250001), None), "bart": (_roberta(50264), 50265),
    "deberta-v2": (_DEBERTA, 128001), "gpt2": (_GPT2, None), "gpt_neo": (_GPT2, None), "gptj": (_GPT2, 50257),
    "opt": (_OPT, 50265), "gpt_neox": (_NEOX, 50277), "t5": (_T5, 32100), "mistral": (_LLAMA_2, None),
    "mixtral": (_LLAMA_2, None), "qwen2": (_QWEN, 151665), "qwen3": (_QWEN, 151669), "gemma": (_GEMMA, None),
    "gemma2": (_GEMMA, None), "phi": (_GPT2, 50295), "phi3": (_PHI_3, 32011), "clip": (_CLIP, 49408),
    "clip_text_model": (_CLIP, 49408),
}  # fmt: skip
_OF_LLAMAS = {128256: _LLAMA_3, 32000: _LLAMA_2, 49152: _SMOL}  # by their vocabularies


def _parts(template, names):
    """as a file of a tokenizer has a template"""
    out = []
    for word in template.split():
        role, _, kind = word.partition(":")
        name, id = ("Sequence", role) if role in ("A", "B") else ("SpecialToken", names[role])
        out.append({name: {"id": id, "type_id": int(kind or 0)}})
    return out


def files_of(config):
    """tokenizer_config.json and tokenizer.json of a model; {}: its tokenizer is in no table"""
    kind = config["model_type"]
    found, size = _OF_KIND.get(kind, (None, None))
    if kind == "llama":
        found = _OF_LLAMAS.get(config["vocab_size"])
    if found is None:
        return {}
    size = size or config.get("vocab_size")
    if size is None:  # its class's
        import transformers

        size = transformers.AutoConfig.for_model(kind).vocab_size
    single, pair, longest, special = found
    names = {role: token for role, (token, _) in special.items()}
    numbers = {token: number for token, number in special.values()}
    vocab = numbers if size - 1 in numbers.values() else numbers | {"<the last>": size - 1}
    tokenizer = {
        "added_tokens": [{"id": number, "content": token, "special": True} for token, number in numbers.items()],
        "model": {"type": "WordPiece" if found is _BERT else "BPE", "vocab": vocab, "merges": []},
        "post_processor": {
            "type": "TemplateProcessing", "single": _parts(single, names), "pair": _parts(pair, names),
            "special_tokens": {},
        },
    }  # fmt: skip
    # A pipeline's tokenizer stands apart from the configuration that would say its class.
    of_class = "CLIPTokenizer" if found is _CLIP else "PreTrainedTokenizerFast"
    settings = {"tokenizer_class": of_class, "model_max_length": longest or int(1e30)}
    settings |= {role + "_token": token for role, token in names.items()}
    return {"tokenizer_config.json": [json.dumps(settings)], "tokenizer.json": [json.dumps(tokenizer)]}
