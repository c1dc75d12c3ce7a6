class Model:
    """a vocabulary: numbers by tokens"""

    def __init__(self, vocab=None, *args, **kwargs):
        if isinstance(vocab, list):
            vocab = {each[0]: number for number, each in enumerate(vocab)}
        self.vocab = dict(vocab or {})
        for name, value in kwargs.items():
            setattr(self, name, value)

    def get_trainer(self):
        from tokenizers._parts import part

        return part("tokenizers.trainers", type(self).__name__ + "Trainer")()

    def token_to_id(self, token):
        return self.vocab.get(token)


class BPE(Model):
    pass


class WordPiece(Model):
    pass


class WordLevel(Model):
    pass


class Unigram(Model):
    pass
