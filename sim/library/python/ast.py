import _tidemark

parse, dump, walk, unparse, NodeVisitor, NodeTransformer, AST = [
    _tidemark.later("ast." + n) for n in ("parse", "dump", "walk", "unparse", "NodeVisitor", "NodeTransformer", "AST")
]


def literal_eval(node_or_string):
    text = node_or_string.strip()
    if any([c in text for c in "()."]) and any([c.isalpha() for c in text.partition("(")[0][-1:]]):
        raise ValueError(f"malformed node or string: {text!r}")
    try:
        return eval(text, {"__builtins__": {}})
    except NameError:
        raise ValueError(f"malformed node or string: {text!r}") from None
