"""What is put around the tokens of a text."""
from tokenizers._parts import part, Part


class PostProcessor(Part):
    pass


class TemplateProcessing(PostProcessor):
    def __init__(self, single=None, pair=None, special_tokens=None):
        self.single, self.pair, self.special_tokens = single, pair, special_tokens


class BertProcessing(PostProcessor):
    def __init__(self, sep, cls):
        self.sep, self.cls = sep, cls


class RobertaProcessing(PostProcessor):
    def __init__(self, sep, cls, trim_offsets=True, add_prefix_space=True):
        self.sep, self.cls = sep, cls


class Sequence(PostProcessor):
    def __init__(self, processors=()):
        self.processors = list(processors)


class ByteLevel(PostProcessor):
    pass


def _parsed(template):
    """[(special token, "A" or "B", type of the tokens)] of "[CLS] $A:0 [SEP] $B:1" """
    words = template.split() if isinstance(template, str) else template
    out = []
    for word in words or ():
        name, _, kind = word.rpartition(":") if ":" in word[1:] and word[-1:].isdigit() else (word, "", "0")
        out.append((name[1:] if name[:1] == "$" and name[1:] in ("A", "B") else name, int(kind)))
    return out


def template_of(processor, is_pair):
    """what stands around the texts: (name, type) in order, where "A" and "B" are the texts; None: nothing"""
    if isinstance(processor, TemplateProcessing):
        return _parsed(processor.pair if is_pair else processor.single) or None
    if isinstance(processor, (BertProcessing, RobertaProcessing)):
        cls, sep = processor.cls[0], processor.sep[0]
        between = [(sep, 0)] if isinstance(processor, BertProcessing) else [(sep, 0), (sep, 0)]
        second = 1 if isinstance(processor, BertProcessing) else 0
        return [(cls, 0), ("A", 0)] + (between + [("B", second), (sep, second)] if is_pair else [(sep, 0)])
    if isinstance(processor, Sequence):
        for each in processor.processors:
            found = template_of(each, is_pair)
            if found is not None:
                return found
    return None


def _template_in(parts):
    """of a tokenizer's file"""
    out = []
    for each in parts:
        special, text = each.get("SpecialToken"), each.get("Sequence")
        out.append(f"{special['id']}:{special['type_id']}" if special else f"${text['id']}:{text['type_id']}")
    return out


def made_of(parsed):
    kind = (parsed or {}).get("type")
    if kind == "TemplateProcessing":
        return TemplateProcessing(_template_in(parsed["single"]), _template_in(parsed["pair"]), [])
    if kind in ("BertProcessing", "RobertaProcessing"):
        return (BertProcessing if kind[0] == "B" else RobertaProcessing)(tuple(parsed["sep"]), tuple(parsed["cls"]))
    if kind == "Sequence":
        return Sequence([made_of(each) for each in parsed["processors"]])
    return None if parsed is None else ByteLevel()


def as_json(processor):
    single, pair = template_of(processor, False), template_of(processor, True)
    if single is None:
        return None

    def parts(template):
        return [
            {"Sequence" if name in ("A", "B") else "SpecialToken": {"id": name, "type_id": kind}}
            for name, kind in template
        ]

    return {"type": "TemplateProcessing", "single": parts(single), "pair": parts(pair), "special_tokens": {}}


def __getattr__(name):
    return part("tokenizers.processors", name)
