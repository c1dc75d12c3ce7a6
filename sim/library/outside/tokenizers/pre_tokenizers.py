from tokenizers._parts import part


def __getattr__(name):
    return part("tokenizers.pre_tokenizers", name)
