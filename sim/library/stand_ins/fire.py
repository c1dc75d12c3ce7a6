import ast
import inspect
import re
import shlex
import sys


def _is_number(text):
    return re.fullmatch(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", text) is not None


def _value(text):
    """a literal of Python, or the text itself"""
    is_word = text in ("True", "False", "None")
    if not is_word and not _is_number(text) and text[:1] not in ("'", '"', "[", "(", "{"):
        return text
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def _split(words, flags):
    """what stands by itself, and what has a name"""
    alone, named, at = [], {}, 0
    while at < len(words):
        word = words[at]
        at += 1
        if not word.startswith("-") or word == "-" or _is_number(word):
            alone.append(word)
            continue
        name, equals, text = word.lstrip("-").partition("=")
        name = name.replace("-", "_")
        if equals:
            named[name] = _value(text)
        elif at < len(words) and not words[at].startswith("--"):
            named[name] = _value(words[at])
            at += 1
        elif name not in flags and name.startswith("no") and name[2:] in flags:
            named[name[2:]] = False
        else:
            named[name] = True
    return alone, named


def _call(component, words):
    parameters = inspect.signature(component).parameters
    alone, named = _split(words, list(parameters))
    for name in list(named):
        whole = [each for each in parameters if len(name) == 1 and each.startswith(name)]
        if name not in parameters and len(whole) == 1:
            named[whole[0]] = named.pop(name)
    return component(*[_value(word) for word in alone], **named)


def Fire(component=None, command=None, name=None, serialize=None):
    """calls a function with what the command line says"""
    words = sys.argv[1:] if command is None else shlex.split(command) if isinstance(command, str) else list(command)
    if component is None:
        component = vars(sys.modules["__main__"])
    while not inspect.isfunction(component) and not inspect.ismethod(component):
        if isinstance(component, type):
            component, words = component(), words
        if not words:
            return component
        member, words = words[0].replace("-", "_"), words[1:]
        component = component[member] if isinstance(component, dict) else getattr(component, member)
    return _call(component, words)
