"""Encoders of texts, some with decoders: what their configurations say beside the defaults of their classes."""

_LARGE = {"hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16, "intermediate_size": 4096}
_BERT = {"model_type": "bert", "architectures": ["BertForMaskedLM"]}
_ROBERTA = {
    "model_type": "roberta", "architectures": ["RobertaForMaskedLM"], "vocab_size": 50265, "type_vocab_size": 1,
    "max_position_embeddings": 514, "layer_norm_eps": 1e-05, "bos_token_id": 0, "eos_token_id": 2, "pad_token_id": 1,
}  # fmt: skip
_XLM_ROBERTA = _ROBERTA | {
    "model_type": "xlm-roberta", "architectures": ["XLMRobertaForMaskedLM"], "vocab_size": 250002,
}  # fmt: skip
_DISTIL = {"model_type": "distilbert", "architectures": ["DistilBertForMaskedLM"]}
_DISTIL_CLASSES = _DISTIL | {"architectures": ["DistilBertForSequenceClassification"]}
_ALBERT = {
    "model_type": "albert", "architectures": ["AlbertForMaskedLM"], "embedding_size": 128, "vocab_size": 30000,
    "attention_probs_dropout_prob": 0, "hidden_dropout_prob": 0, "hidden_act": "gelu_new",
}  # fmt: skip
_DEBERTA_V3 = {
    "model_type": "deberta-v2", "architectures": ["DebertaV2ForMaskedLM"], "vocab_size": 128100, "hidden_size": 768,
    "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 3072, "type_vocab_size": 0,
    "max_relative_positions": -1, "position_buckets": 256, "norm_rel_ebd": "layer_norm", "share_att_key": True,
    "pos_att_type": "p2c|c2p", "relative_attention": True, "position_biased_input": False, "pooler_dropout": 0,
    "layer_norm_eps": 1e-07, "pooler_hidden_act": "gelu", "pooler_hidden_size": 768,
}  # fmt: skip
_ELECTRA = {"model_type": "electra", "architectures": ["ElectraForPreTraining"]}
_MINI_LM = _BERT | {
    "architectures": ["BertModel"], "hidden_size": 384, "num_hidden_layers": 6, "num_attention_heads": 12,
    "intermediate_size": 1536,
}  # fmt: skip
_T5 = {
    "model_type": "t5", "architectures": ["T5ForConditionalGeneration"], "vocab_size": 32128,
    "decoder_start_token_id": 0, "pad_token_id": 0, "eos_token_id": 1,
}  # fmt: skip
_T5_LARGE = {"d_model": 1024, "d_ff": 4096, "num_layers": 24, "num_heads": 16}
_FLAN_T5 = _T5 | {"feed_forward_proj": "gated-gelu", "tie_word_embeddings": False}
_BART = {
    "model_type": "bart", "architectures": ["BartForConditionalGeneration"], "bos_token_id": 0, "pad_token_id": 1,
    "eos_token_id": 2, "decoder_start_token_id": 2, "forced_eos_token_id": 2,
}  # fmt: skip
_BART_BASE = {
    "d_model": 768, "encoder_layers": 6, "decoder_layers": 6, "encoder_attention_heads": 12,
    "decoder_attention_heads": 12, "encoder_ffn_dim": 3072, "decoder_ffn_dim": 3072,
}  # fmt: skip
_MARIAN = {
    "model_type": "marian", "architectures": ["MarianMTModel"], "d_model": 512, "encoder_layers": 6,
    "decoder_layers": 6, "encoder_attention_heads": 8, "decoder_attention_heads": 8, "encoder_ffn_dim": 2048,
    "decoder_ffn_dim": 2048, "max_position_embeddings": 512, "activation_function": "swish", "scale_embedding": True,
    "static_position_embeddings": True, "normalize_embedding": False,
}  # fmt: skip


def _marian(vocabulary):
    return _MARIAN | {
        "vocab_size": vocabulary, "decoder_vocab_size": vocabulary, "pad_token_id": vocabulary - 1,
        "decoder_start_token_id": vocabulary - 1, "eos_token_id": 0, "bos_token_id": 0,
    }  # fmt: skip


MODELS = {
    "bert-base-uncased": _BERT,
    "bert-base-cased": _BERT | {"vocab_size": 28996},
    "bert-large-uncased": _BERT | _LARGE,
    "bert-large-cased": _BERT | _LARGE | {"vocab_size": 28996},
    "bert-base-multilingual-cased": _BERT | {"vocab_size": 119547},
    "bert-base-multilingual-uncased": _BERT | {"vocab_size": 105879},
    "bert-base-chinese": _BERT | {"vocab_size": 21128},
    "prajjwal1/bert-tiny": _BERT | {
        "hidden_size": 128, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 512,
    },
    "dslim/bert-base-NER": _BERT | {
        "architectures": ["BertForTokenClassification"], "vocab_size": 28996,
        "id2label": {str(i): name for i, name in enumerate(
            ["O", "B-MISC", "I-MISC", "B-PER", "I-PER", "B-ORG", "I-ORG", "B-LOC", "I-LOC"])},
    },
    "allenai/scibert_scivocab_uncased": _BERT | {"vocab_size": 31090},
    "sentence-transformers/all-MiniLM-L6-v2": _MINI_LM,
    "sentence-transformers/all-MiniLM-L12-v2": _MINI_LM | {"num_hidden_layers": 12},
    "BAAI/bge-small-en-v1.5": _MINI_LM | {"num_hidden_layers": 12},
    "BAAI/bge-base-en-v1.5": _BERT | {"architectures": ["BertModel"]},
    "BAAI/bge-large-en-v1.5": _BERT | _LARGE | {"architectures": ["BertModel"]},
    "roberta-base": _ROBERTA,
    "roberta-large": _ROBERTA | _LARGE,
    "xlm-roberta-base": _XLM_ROBERTA,
    "xlm-roberta-large": _XLM_ROBERTA | _LARGE,
    "distilroberta-base": _ROBERTA | {"num_hidden_layers": 6},
    "distilbert-base-uncased": _DISTIL,
    "distilbert-base-cased": _DISTIL | {"vocab_size": 28996},
    "distilbert-base-multilingual-cased": _DISTIL | {"vocab_size": 119547},
    "distilbert-base-uncased-finetuned-sst-2-english": _DISTIL_CLASSES | {
        "id2label": {"0": "NEGATIVE", "1": "POSITIVE"}, "label2id": {"NEGATIVE": 0, "POSITIVE": 1},
    },
    "albert-base-v1": _ALBERT | {
        "hidden_size": 768, "num_attention_heads": 12, "intermediate_size": 3072, "hidden_act": "gelu",
        "attention_probs_dropout_prob": 0.1, "hidden_dropout_prob": 0.1,
    },
    "albert-base-v2": _ALBERT | {"hidden_size": 768, "num_attention_heads": 12, "intermediate_size": 3072},
    "albert-large-v2": _ALBERT | {
        "hidden_size": 1024, "num_attention_heads": 16, "intermediate_size": 4096, "num_hidden_layers": 24,
        "attention_probs_dropout_prob": 0.1, "hidden_dropout_prob": 0.1,
    },
    "microsoft/deberta-v3-base": _DEBERTA_V3,
    "microsoft/deberta-v3-small": _DEBERTA_V3 | {"num_hidden_layers": 6},
    "microsoft/deberta-v3-xsmall": _DEBERTA_V3 | {
        "hidden_size": 384, "num_attention_heads": 6, "intermediate_size": 1536, "pooler_hidden_size": 384,
    },
    "microsoft/deberta-v3-large": _DEBERTA_V3 | _LARGE | {"pooler_hidden_size": 1024},
    "google/electra-small-discriminator": _ELECTRA | {
        "embedding_size": 128, "hidden_size": 256, "num_attention_heads": 4, "intermediate_size": 1024,
    },
    "google/electra-base-discriminator": _ELECTRA | {
        "embedding_size": 768, "hidden_size": 768, "num_attention_heads": 12, "intermediate_size": 3072,
    },
    "google/electra-large-discriminator": _ELECTRA | _LARGE | {"embedding_size": 1024},
    "t5-small": _T5 | {"d_model": 512, "d_ff": 2048, "num_layers": 6, "num_heads": 8},
    "t5-base": _T5 | {"d_model": 768, "d_ff": 3072, "num_layers": 12, "num_heads": 12},
    "t5-large": _T5 | _T5_LARGE,
    "google/flan-t5-small": _FLAN_T5 | {
        "d_model": 512, "d_ff": 1024, "num_layers": 8, "num_heads": 6, "num_decoder_layers": 8,
    },
    "google/flan-t5-base": _FLAN_T5 | {"d_model": 768, "d_ff": 2048, "num_layers": 12, "num_heads": 12},
    "google/flan-t5-large": _FLAN_T5 | _T5_LARGE | {"d_ff": 2816},
    "google/flan-t5-xl": _FLAN_T5 | {"d_model": 2048, "d_ff": 5120, "num_layers": 24, "num_heads": 32},
    "facebook/bart-base": _BART | _BART_BASE,
    "facebook/bart-large": _BART,
    "facebook/bart-large-cnn": _BART | {"vocab_size": 50264},
    "Helsinki-NLP/opus-mt-en-de": _marian(58101),
    "Helsinki-NLP/opus-mt-en-fr": _marian(59514),
}
