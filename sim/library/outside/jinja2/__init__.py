"""comes with torch's wheel; here it fills in names and their defaults, as cards of models ask for it"""

import re

import _tidemark
from jinja2 import exceptions
from jinja2.exceptions import TemplateError, TemplateNotFound, TemplateSyntaxError, UndefinedError

__version__ = "3.1.6"

_NAME = re.compile(
    r"""\{\{-?\s*(\w+)\s*(?:\|\s*default\(\s*("[^"]*"|'[^']*')\s*(?:,\s*([Tt]rue|[Ff]alse))?\s*\)\s*)?-?\}\}"""
)
_COMMENT = re.compile(r"\{#[\s\S]*?#\}")


class Environment:
    def __init__(self, **options):
        self._options = options

    def from_string(self, source, globals=None):
        return Template(source)


class Template:
    def __init__(self, source, **options):
        self._source = source

    def render(self, *given, **names):
        values = dict(*given, **names)

        def fill(match):
            name, default, by_truth = match.groups()
            if default is not None and (name not in values or (by_truth in ("true", "True") and not values[name])):
                return default[1:-1]
            return str(values.get(name, ""))

        plain = _COMMENT.sub("", self._source)
        if re.search(r"\{%|\{\{", _NAME.sub("", plain)) is not None:
            _tidemark.refuse(
                "a jinja2 template with more than names and defaults is not modelled", "give the text that it makes"
            )
        text = _NAME.sub(fill, plain)
        return text[:-1] if text.endswith("\n") else text


def pass_eval_context(function):
    return function


pass_context = pass_environment = pass_eval_context
