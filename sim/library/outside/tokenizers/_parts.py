class Part:
    """a part of a tokenizer that decides which tokens a text has: it keeps what it is given"""

    def __init__(self, *args, **kwargs):
        self.args = args
        for name, value in kwargs.items():
            setattr(self, name, value)

    def normalize_str(self, text):
        return text

    def pre_tokenize_str(self, text):
        return [(text, (0, len(text)))]

    def decode(self, tokens):
        return " ".join(tokens)


_made = {}


def part(module, name):
    """the class of that name, which differs from others by its name alone"""
    if name[:1] == "_":
        raise AttributeError(f"module '{module}' has no attribute '{name}'")
    if (module, name) not in _made:
        _made[module, name] = type(name, (Part,), {"__module__": module})
    return _made[module, name]
