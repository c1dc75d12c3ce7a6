"""Tokenizers, which the real package compiles: how many tokens a text has, not which.

A word or a mark of a text is taken to be one token. That is an estimate, and the report tells it wherever a length
follows from it. Padding to a fixed length makes lengths certain.
"""
import json
import re

import _tidemark
from tokenizers import decoders, models, normalizers, pre_tokenizers, processors, trainers
from tokenizers._parts import Part

__version__ = "0.23.3"

_PIECES = re.compile(r"\w+|[^\w\s]")
Offsets = TextInputSequence = PreTokenizedInputSequence = TextEncodeInput = PreTokenizedEncodeInput = tuple
InputSequence = EncodeInput = tuple


class AddedToken:
    def __init__(self, content=None, single_word=False, lstrip=False, rstrip=False, normalized=None, special=False):
        self.content, self.single_word, self.lstrip, self.rstrip = content, single_word, lstrip, rstrip
        self.special = special
        self.normalized = not special if normalized is None else normalized

    def __str__(self):
        return self.content

    def __repr__(self):
        return f'AddedToken("{self.content}", rstrip={self.rstrip}, lstrip={self.lstrip}, special={self.special})'

    def __eq__(self, other):
        return isinstance(other, AddedToken) and other.content == self.content and other.special == self.special

    def __hash__(self):
        return hash(self.content)

    def __len__(self):
        return len(self.content)

    def __getstate__(self):
        return dict(self.__dict__)


class Regex(Part):
    pass


class Encoding:
    """the tokens of one text or pair"""

    def __init__(self, rows=()):
        self._rows = list(rows)  # id, token, type, special, sequence, word, offsets, attended
        self.overflowing = []

    def _column(self, i):
        return [row[i] for row in self._rows]

    ids = property(lambda self: self._column(0))
    tokens = property(lambda self: self._column(1))
    type_ids = property(lambda self: self._column(2))
    special_tokens_mask = property(lambda self: self._column(3))
    sequence_ids = property(lambda self: self._column(4))
    word_ids = words = property(lambda self: self._column(5))
    offsets = property(lambda self: self._column(6))
    attention_mask = property(lambda self: self._column(7))

    @property
    def n_sequences(self):
        return len(set(self._column(4)) - {None})

    def __len__(self):
        return len(self._rows)

    def pad(self, length, direction="right", pad_id=0, pad_type_id=0, pad_token="[PAD]"):
        fill = [(pad_id, pad_token, pad_type_id, 1, None, None, (0, 0), 0)] * (length - len(self._rows))
        self._rows = fill + self._rows if direction == "left" else self._rows + fill

    def truncate(self, max_length, stride=0, direction="right"):
        self._rows = self._rows[-max_length:] if direction == "left" else self._rows[:max_length]


class Tokenizer:
    def __init__(self, model=None):
        self.model = model
        self.normalizer = self.pre_tokenizer = self.post_processor = self.decoder = None
        self.padding = self.truncation = None
        self.encode_special_tokens = False
        self._added = {}  # token: its number and AddedToken

    @staticmethod
    def from_str(json):
        return _made_of(globals()["json"].loads(json))

    @staticmethod
    def from_file(path):
        with open(path, encoding="utf-8") as file:
            return _made_of(json.load(file))

    def __deepcopy__(self, memo):
        other = Tokenizer(self.model)
        other.__dict__.update(self.__dict__)
        other._added = dict(self._added)
        return other

    def no_truncation(self):
        self.truncation = None

    def enable_truncation(self, max_length, stride=0, strategy="longest_first", direction="right"):
        self.truncation = {"max_length": max_length, "stride": stride, "strategy": strategy, "direction": direction}

    def no_padding(self):
        self.padding = None

    def enable_padding(
        self, direction="right", pad_id=0, pad_type_id=0, pad_token="[PAD]", length=None, pad_to_multiple_of=None
    ):
        self.padding = {
            "length": length, "pad_to_multiple_of": pad_to_multiple_of, "pad_id": pad_id, "pad_token": pad_token,
            "pad_type_id": pad_type_id, "direction": direction,
        }  # fmt: skip

    def _own(self):
        return self.model.vocab if self.model is not None else {}

    def get_vocab(self, with_added_tokens=True):
        added = {token: number for token, (number, _) in self._added.items()} if with_added_tokens else {}
        return dict(self._own()) | added

    def get_vocab_size(self, with_added_tokens=True):
        numbers = list(self._own().values())
        if with_added_tokens:
            numbers += [number for number, _ in self._added.values()]
        return max(numbers, default=-1) + 1

    def token_to_id(self, token):
        return self._added[token][0] if token in self._added else self._own().get(token)

    def id_to_token(self, id):
        for token, number in self.get_vocab().items():
            if number == id:
                return token
        return f"token_{id}" if 0 <= id < self.get_vocab_size() else None

    def add_tokens(self, tokens):
        count = 0
        for each in tokens:
            token = each if isinstance(each, AddedToken) else AddedToken(each)
            number = self.token_to_id(token.content)
            count += number is None
            self._added[token.content] = (self.get_vocab_size() if number is None else number, token)
        return count

    def add_special_tokens(self, tokens):
        special = [each if isinstance(each, AddedToken) else AddedToken(each, special=True) for each in tokens]
        return self.add_tokens(special)

    def get_added_tokens_decoder(self):
        return {number: token for number, token in sorted(self._added.values(), key=lambda each: each[0])}

    def _template(self, is_pair):
        found = processors.template_of(self.post_processor, is_pair)
        return found or [("A", 0), ("B", 1)][:1 + is_pair]

    def num_special_tokens_to_add(self, is_pair):
        return len([part for part, _ in self._template(is_pair) if part not in ("A", "B")])

    def _pieces(self, text, is_split):
        """(token, word, where it begins and ends) of each"""
        if is_split:
            pieces = [(i, word, _PIECES.findall(word) or [word]) for i, word in enumerate(text)]
            return [(piece, i, (0, len(word))) for i, word, found in pieces for piece in found]
        return [(found.group(), i, found.span()) for i, found in enumerate(_PIECES.finditer(text))]

    def _number(self, token):
        number = self.token_to_id(token)
        if number is None:  # some number of an ordinary token, always the same
            size = max(self.get_vocab_size(False), 1)
            number = size // 8 + sum([ord(c) * (i + 7) for i, c in enumerate(token)]) % max(size - size // 8, 1)
        return number

    def _encoded(self, item, is_split, adds_special):
        is_pair = isinstance(item, tuple) and len(item) == 2 and not (is_split and isinstance(item[0], str))
        texts = {"A": self._pieces(item[0] if is_pair else item, is_split)}
        if is_pair:
            texts["B"] = self._pieces(item[1], is_split)
        parts = self._template(is_pair) if adds_special else [("A", 0), ("B", 1)][:1 + is_pair]
        if self.truncation is not None:
            room = self.truncation["max_length"] - (len(parts) - len(texts))
            strategy, from_left = self.truncation["strategy"], self.truncation["direction"] == "left"
            while sum([len(each) for each in texts.values()]) > max(room, 0):
                longest = max(texts, key=lambda name: len(texts[name]))
                chosen = {"only_first": "A", "only_second": "B"}.get(strategy, longest)
                excess = sum([len(each) for each in texts.values()]) - max(room, 0)
                if not is_pair or chosen != longest or strategy != "longest_first":
                    cut = min(excess, len(texts[chosen]))
                else:
                    cut = 1
                if cut == 0:
                    break
                texts[chosen] = texts[chosen][cut:] if from_left else texts[chosen][:len(texts[chosen]) - cut]
        rows = []
        for part, kind in parts:
            if part in texts:
                sequence = 0 if part == "A" else 1
                rows += [(self._number(t), t, kind, 0, sequence, word, at, 1) for t, word, at in texts[part]]
            else:
                rows.append((self._number(part), part, kind, 1, None, None, (0, 0), 1))
        return Encoding(rows)

    def encode(self, sequence, pair=None, is_pretokenized=False, add_special_tokens=True):
        item = sequence if pair is None else (sequence, pair)
        return self.encode_batch([item], is_pretokenized, add_special_tokens)[0]

    def encode_batch(self, input, is_pretokenized=False, add_special_tokens=True):
        out = [self._encoded(item, is_pretokenized, add_special_tokens) for item in input]
        fixed = self.padding is not None and self.padding["length"] is not None
        if not fixed:
            _tidemark.note(
                "tokens of texts are counted as one a word or mark: an estimate, which padding='max_length' avoids"
            )
        if self.padding is not None and out:
            length = self.padding["length"] if fixed else max([len(each) for each in out])
            step = self.padding["pad_to_multiple_of"]
            if step:
                length = (length + step - 1) // step * step
            for each in out:
                each.pad(
                    length, self.padding["direction"], self.padding["pad_id"], self.padding["pad_type_id"],
                    self.padding["pad_token"],
                )  # fmt: skip
        return out

    encode_batch_fast = encode_batch

    def decode(self, ids, skip_special_tokens=True):
        tokens = [self.id_to_token(int(number)) or "" for number in ids]
        special = {token for token, (_, added) in self._added.items() if added.special}
        return " ".join([token for token in tokens if not (skip_special_tokens and token in special)])

    def decode_batch(self, sequences, skip_special_tokens=True):
        return [self.decode(each, skip_special_tokens) for each in sequences]

    def to_str(self, pretty=False):
        added = [
            {"id": number, "content": name, "special": token.special} for name, (number, token) in self._added.items()
        ]
        kind = "WordPiece" if self.model is None else type(self.model).__name__
        return json.dumps({
            "added_tokens": added, "model": {"type": kind, "vocab": dict(self._own())},
            "post_processor": processors.as_json(self.post_processor),
        })  # fmt: skip

    def save(self, path, pretty=True):
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.to_str())

    train = train_from_iterator = from_pretrained = _tidemark.later("tokenizers.Tokenizer's training and downloads")


def _made_of(parsed):
    model = parsed.get("model") or {}
    vocab = model.get("vocab") or {}
    if isinstance(vocab, list):
        vocab = {each[0]: number for number, each in enumerate(vocab)}
    out = Tokenizer(getattr(models, model.get("type") or "WordPiece")(vocab=vocab))
    for each in parsed.get("added_tokens") or []:
        token = AddedToken(each["content"], special=each.get("special", False))
        out._added[each["content"]] = (each["id"], token)
    out.post_processor = processors.made_of(parsed.get("post_processor"))
    return out
