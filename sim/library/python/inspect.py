import _tidemark
from _code import annotation_of
from collections import OrderedDict
from enum import IntEnum
from functools import partial
from types import GenericAlias, MappingProxyType, MethodType, ModuleType


class _empty:
    """no default, no annotation"""


class _ParameterKind(IntEnum):
    POSITIONAL_ONLY = 0
    POSITIONAL_OR_KEYWORD = 1
    VAR_POSITIONAL = 2
    KEYWORD_ONLY = 3
    VAR_KEYWORD = 4

    def __str__(self):
        return self.name

    @property
    def description(self):
        return ("positional-only", "positional or keyword", "variadic positional", "keyword-only",
                "variadic keyword")[self.value]


class Parameter:
    empty = _empty
    POSITIONAL_ONLY, POSITIONAL_OR_KEYWORD, VAR_POSITIONAL, KEYWORD_ONLY, VAR_KEYWORD = list(_ParameterKind)

    def __init__(self, name, kind, *, default=_empty, annotation=_empty):
        self.name, self.kind, self.default, self._annotation = name, _ParameterKind(kind), default, annotation

    @property
    def annotation(self):
        return self._annotation() if isinstance(self._annotation, _Later) else self._annotation

    def replace(self, *, name=None, kind=None, default=NotImplemented, annotation=NotImplemented):
        return Parameter(
            self.name if name is None else name,
            self.kind if kind is None else kind,
            default=self.default if default is NotImplemented else default,
            annotation=self._annotation if annotation is NotImplemented else annotation,
        )

    def __eq__(self, other):
        return isinstance(other, Parameter) and (self.name, self.kind, self.default, self.annotation) == (
            other.name, other.kind, other.default, other.annotation
        )

    def __hash__(self):
        return hash((self.name, self.kind))

    def __str__(self):
        text = {self.VAR_POSITIONAL: "*", self.VAR_KEYWORD: "**"}.get(self.kind, "") + self.name
        annotated = self.annotation is not _empty
        if annotated:
            text += ": " + formatannotation(self.annotation)
        if self.default is not _empty:
            text += (" = " if annotated else "=") + repr(self.default)
        return text

    def __repr__(self):
        return f'<Parameter "{self}">'


class _Later:
    """an annotation, whose text is run when somebody looks"""

    def __init__(self, owner, text):
        self._owner, self._text = owner, text

    def __call__(self):
        return annotation_of(self._owner, self._text)


def formatannotation(annotation):
    if getattr(annotation, "__module__", None) == "typing":
        return repr(annotation).replace("typing.", "")
    if isinstance(annotation, type) and not isinstance(annotation, GenericAlias):
        module = annotation.__module__
        return annotation.__qualname__ if module == "builtins" else f"{module}.{annotation.__qualname__}"
    return repr(annotation)


class BoundArguments:
    def __init__(self, signature, arguments):
        self.signature, self.arguments = signature, arguments

    @property
    def args(self):
        out = []
        for name, parameter in self.signature.parameters.items():
            if parameter.kind in (Parameter.KEYWORD_ONLY, Parameter.VAR_KEYWORD) or name not in self.arguments:
                break
            value = self.arguments[name]
            out.extend(value) if parameter.kind == Parameter.VAR_POSITIONAL else out.append(value)
        return tuple(out)

    @property
    def kwargs(self):
        out, by_name = {}, False
        for name, parameter in self.signature.parameters.items():
            by_name = by_name or parameter.kind in (Parameter.KEYWORD_ONLY, Parameter.VAR_KEYWORD)
            if name not in self.arguments:
                by_name = by_name or parameter.kind != Parameter.VAR_POSITIONAL
            elif parameter.kind == Parameter.VAR_KEYWORD:
                out.update(self.arguments[name])
            elif by_name:
                out[name] = self.arguments[name]
        return out

    def apply_defaults(self):
        whole = {}
        for name, parameter in self.signature.parameters.items():
            if name in self.arguments:
                whole[name] = self.arguments[name]
            elif parameter.default is not _empty:
                whole[name] = parameter.default
            elif parameter.kind == Parameter.VAR_POSITIONAL:
                whole[name] = ()
            elif parameter.kind == Parameter.VAR_KEYWORD:
                whole[name] = {}
        self.arguments = whole


class Signature:
    empty = _empty

    def __init__(self, parameters=None, *, return_annotation=_empty):
        self.parameters = MappingProxyType(OrderedDict([(each.name, each) for each in parameters or ()]))
        self._return = return_annotation

    @property
    def return_annotation(self):
        return self._return() if isinstance(self._return, _Later) else self._return

    @classmethod
    def from_callable(cls, obj, *, follow_wrapped=True):
        return signature(obj, follow_wrapped=follow_wrapped)

    def replace(self, *, parameters=None, return_annotation=NotImplemented):
        return Signature(
            self.parameters.values() if parameters is None else parameters,
            return_annotation=self._return if return_annotation is NotImplemented else return_annotation,
        )

    def _bind(self, args, kwargs, is_partial):
        arguments, rest, given = {}, list(args), dict(kwargs)
        extra = None
        for name, parameter in self.parameters.items():
            if parameter.kind == Parameter.VAR_POSITIONAL:
                arguments[name] = tuple(rest)
                rest = []
                if not arguments[name]:
                    del arguments[name]
            elif parameter.kind == Parameter.VAR_KEYWORD:
                extra = name
            elif rest and parameter.kind != Parameter.KEYWORD_ONLY:
                if name in given and parameter.kind != Parameter.POSITIONAL_ONLY:
                    raise TypeError(f"multiple values for argument {name!r}")
                arguments[name] = rest.pop(0)
            elif name in given and parameter.kind != Parameter.POSITIONAL_ONLY:
                arguments[name] = given.pop(name)
            elif parameter.default is _empty and not is_partial:
                raise TypeError(f"missing a required argument: {name!r}")
        if rest:
            raise TypeError("too many positional arguments")
        if given and extra is None:
            raise TypeError(f"got an unexpected keyword argument {list(given)[0]!r}")
        if given:
            arguments[extra] = given
        return BoundArguments(self, arguments)

    def bind(self, /, *args, **kwargs):
        return self._bind(args, kwargs, False)

    def bind_partial(self, /, *args, **kwargs):
        return self._bind(args, kwargs, True)

    def __eq__(self, other):
        return isinstance(other, Signature) and list(self.parameters.values()) == list(other.parameters.values())

    def __str__(self):
        out, last = [], None
        for parameter in self.parameters.values():
            if last == Parameter.POSITIONAL_ONLY and parameter.kind != last:
                out.append("/")
            if parameter.kind == Parameter.KEYWORD_ONLY and last not in (Parameter.VAR_POSITIONAL, parameter.kind):
                out.append("*")
            out.append(str(parameter))
            last = parameter.kind
        if last == Parameter.POSITIONAL_ONLY:
            out.append("/")
        given = self.return_annotation
        return f"({', '.join(out)})" + ("" if given is _empty else " -> " + formatannotation(given))

    def __repr__(self):
        return f"<Signature {self}>"


def _of_function(function):
    found = _tidemark.parameters(function)
    if found is None:
        raise ValueError(f"no signature found for builtin {function!r}")
    rows, returns = found
    fields = getattr(function, "_dataclass_fields", None)
    if fields is not None:
        return Signature(
            [
                Parameter(
                    name,
                    kind,
                    default=_empty if default is NotImplemented else default,
                    annotation=fields[name].type if name in fields else _empty,
                )
                for name, kind, default, _ in rows
            ],
            return_annotation=None,
        )

    def annotation(text):
        return _empty if text is NotImplemented else _Later(function, text)

    parameters = [
        Parameter(name, kind, default=_empty if default is NotImplemented else default, annotation=annotation(text))
        for name, kind, default, text in rows
    ]
    return Signature(parameters, return_annotation=annotation(returns))


def _without_first(found):
    parameters = list(found.parameters.values())
    if parameters and parameters[0].kind != Parameter.VAR_POSITIONAL:
        parameters = parameters[1:]
    return found.replace(parameters=parameters)


def _of_partial(found, args, keywords):
    bound = found.bind_partial(*args, **keywords).arguments
    parameters, by_name = [], False
    for name, parameter in found.parameters.items():
        if parameter.kind in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD):
            if not (parameter.kind == Parameter.VAR_POSITIONAL and by_name):
                parameters.append(parameter)
        elif name in keywords:
            by_name = True
            parameters.append(parameter.replace(kind=Parameter.KEYWORD_ONLY, default=keywords[name]))
        elif name not in bound:
            kind = Parameter.KEYWORD_ONLY if by_name and parameter.kind == Parameter.POSITIONAL_OR_KEYWORD else None
            parameters.append(parameter.replace(kind=kind))
    return found.replace(parameters=parameters)


def signature(obj, *, follow_wrapped=True, globals=None, locals=None, eval_str=False):
    if not callable(obj):
        raise TypeError(f"{obj!r} is not a callable object")
    if isinstance(obj, MethodType):
        return _without_first(signature(obj.__func__, follow_wrapped=follow_wrapped))
    given = obj.__dict__.get("__signature__") if hasattr(obj, "__dict__") else None
    if given is not None:
        return given
    if follow_wrapped and not isinstance(obj, type) and hasattr(obj, "__wrapped__"):
        return signature(obj.__wrapped__)
    if isinstance(obj, partial):
        return _of_partial(signature(obj.func), obj.args, obj.keywords)
    if isinstance(obj, type):
        for name in ("__new__", "__init__"):
            for base in obj.__mro__[:-1]:
                found = _tidemark.own_attribute(base, name)
                if found is not NotImplemented:
                    found = getattr(found, "__func__", found)
                    if name == "__init__" or _tidemark.parameters(found) is not None and _is_code(found):
                        return _without_first(signature(found))
                    break
        return Signature([])
    if isfunction(obj) or isbuiltin(obj):
        return _of_function(obj)
    return _without_first(signature(type(obj).__call__))


def _is_code(function):
    return type(function) is type(_is_code)


class FullArgSpec:
    def __init__(self, args, varargs, varkw, defaults, kwonlyargs, kwonlydefaults, annotations):
        self.args, self.varargs, self.varkw, self.defaults = args, varargs, varkw, defaults
        self.kwonlyargs, self.kwonlydefaults, self.annotations = kwonlyargs, kwonlydefaults, annotations


def getfullargspec(func):
    whole = signature(func)
    if isinstance(func, type):
        whole = whole.replace(parameters=[Parameter("self", 1), *whole.parameters.values()])
    if isinstance(func, MethodType):
        whole = signature(func.__func__)
    args, only, defaults, only_defaults, star, double_star = [], [], [], {}, None, None
    for parameter in whole.parameters.values():
        if parameter.kind == Parameter.VAR_POSITIONAL:
            star = parameter.name
        elif parameter.kind == Parameter.VAR_KEYWORD:
            double_star = parameter.name
        elif parameter.kind == Parameter.KEYWORD_ONLY:
            only.append(parameter.name)
            if parameter.default is not _empty:
                only_defaults[parameter.name] = parameter.default
        else:
            args.append(parameter.name)
            if parameter.default is not _empty:
                defaults.append(parameter.default)
    notes = {p.name: p.annotation for p in whole.parameters.values() if p.annotation is not _empty}
    return FullArgSpec(args, star, double_star, tuple(defaults) or None, only, only_defaults or None, notes)


def unwrap(func, *, stop=None):
    while hasattr(func, "__wrapped__") and not (stop is not None and stop(func)):
        func = func.__wrapped__
    return func


def isfunction(object):
    return type(object) is type(_is_code)


def isbuiltin(object):
    return type(object) is type(len)


def isroutine(object):
    return isfunction(object) or isbuiltin(object) or isinstance(object, MethodType)


def isclass(object):
    return isinstance(object, type)


def ismethod(object):
    return isinstance(object, MethodType)


def ismodule(object):
    return isinstance(object, ModuleType)


def isgeneratorfunction(obj):
    return _tidemark.is_generator_function(unwrap(getattr(obj, "__func__", obj)))


def iscoroutinefunction(obj):
    return _tidemark.is_async_function(unwrap(getattr(obj, "__func__", obj)))


def isgenerator(object):
    return hasattr(object, "send") and hasattr(object, "throw")


def isawaitable(object):
    return hasattr(object, "__await__")


iscoroutine = isasyncgen = isasyncgenfunction = isawaitable


def isabstract(object):
    return isinstance(object, type) and bool(getattr(object, "__abstractmethods__", ()))


def isdatadescriptor(object):
    return hasattr(type(object), "__set__") or isinstance(object, property)


def getmro(cls):
    return cls.__mro__


def getdoc(object):
    doc = getattr(object, "__doc__", None)
    for base in object.__mro__[1:-1] if isinstance(object, type) else ():
        doc = base.__dict__.get("__doc__") if doc is None else doc
    return cleandoc(doc) if isinstance(doc, str) else None


def cleandoc(doc):
    lines = doc.expandtabs().split("\n") if hasattr(doc, "expandtabs") else doc.split("\n")
    margins = [len(line) - len(line.lstrip()) for line in lines[1:] if line.strip()]
    margin = min(margins) if margins else 0
    lines = [lines[0].lstrip()] + [line[margin:] for line in lines[1:]]
    while lines and not lines[-1]:
        lines.pop()
    while lines and not lines[0]:
        lines.pop(0)
    return "\n".join(lines)


def getmembers(object, predicate=None):
    out = []
    for name in dir(object):
        try:
            value = getattr(object, name)
        except AttributeError:
            continue
        if predicate is None or predicate(value):
            out.append((name, value))
    return sorted(out, key=lambda each: each[0])


def getattr_static(obj, attr, *default):
    kind = obj if isinstance(obj, type) else type(obj)
    if kind is not obj and hasattr(obj, "__dict__") and attr in obj.__dict__:
        return obj.__dict__[attr]
    for base in kind.__mro__:
        found = _tidemark.own_attribute(base, attr)
        if found is not NotImplemented:
            return found
    if default:
        return default[0]
    raise AttributeError(attr)


def getmodule(object, _filename=None):
    return _tidemark.modules().get(getattr(object, "__module__", None))


def getfile(object):
    if ismodule(object):
        return object.__file__
    if isinstance(object, type):
        return _tidemark.modules()[object.__module__].__file__
    return _tidemark.source_of(getattr(object, "__func__", object))[0]


getsourcefile = getabsfile = getfile
trace = _tidemark.later("inspect.trace")


def currentframe():
    return _tidemark.frame(1)


class Traceback:
    """where a frame stands"""

    def __init__(self, filename, lineno, function, code_context, index):
        self.filename, self.lineno, self.function = filename, lineno, function
        self.code_context, self.index = code_context, index


class FrameInfo(Traceback):
    def __init__(self, frame, filename, lineno, function, code_context, index):
        super().__init__(filename, lineno, function, code_context, index)
        self.frame = frame

    def __getitem__(self, i):
        return (self.frame, self.filename, self.lineno, self.function, self.code_context, self.index)[i]


def getframeinfo(frame, context=1):
    return Traceback(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name, None, None)


def getouterframes(frame, context=1):
    found = []
    while frame is not None:
        code = frame.f_code
        found.append(FrameInfo(frame, code.co_filename, frame.f_lineno, code.co_name, None, None))
        frame = frame.f_back
    return found


def stack(context=1):
    return getouterframes(_tidemark.frame(1), context)


def isframe(object):
    return isinstance(object, type(_tidemark.frame(0)))


ArgInfo = _tidemark.named_tuple("ArgInfo", ["args", "varargs", "keywords", "locals"])


def getargvalues(frame):
    code = frame.f_code
    named = code.co_argcount + code.co_kwonlyargcount
    args, rest = list(code.co_varnames[:named]), list(code.co_varnames[named:])
    varargs = rest.pop(0) if code.co_flags & 4 else None
    varkw = rest.pop(0) if code.co_flags & 8 else None
    return ArgInfo(args, varargs, varkw, frame.f_locals)


def _block(lines):
    """the lines of the definition that the first one begins"""
    margin = len(lines[0]) - len(lines[0].lstrip())
    closed = not lines[0].lstrip().startswith("@")  # a decorator's definition follows
    depth = 0
    for i, line in enumerate(lines):
        text = line.strip()
        if i > 0 and closed and depth == 0 and text and not text.startswith("#"):
            if len(line) - len(line.lstrip()) <= margin:
                while not lines[i - 1].strip():
                    i -= 1
                return lines[:i]
        if text.startswith(("def ", "class ", "async def ")):
            closed = True
        depth = max(0, depth + sum([text.count(c) for c in "([{"]) - sum([text.count(c) for c in ")]}"]))
    return lines


def getsourcelines(object):
    object = unwrap(object) if callable(object) and not isinstance(object, type) else object
    path = getfile(object)
    try:
        with open(path) as file:
            lines = file.readlines()
    except FileNotFoundError:
        raise OSError("could not get source code")
    if ismodule(object):
        return lines, 0
    if isinstance(object, type):
        head = "class " + object.__name__
        bare = [line.lstrip() for line in lines]
        starts = [i for i, line in enumerate(bare) if line.startswith(head) and line[len(head)] in "(:"]
        if not starts:
            raise OSError("could not find class definition")
        first = starts[0]
    else:
        first = _tidemark.source_of(getattr(object, "__func__", object))[1] - 1
    while first > 0 and lines[first - 1].lstrip().startswith("@"):
        first -= 1
    return _block(lines[first:]), first + 1


def getsource(object):
    return "".join(getsourcelines(object)[0])


def getcallargs(func, /, *positional, **named):
    bound = signature(func).bind(*positional, **named)
    bound.apply_defaults()
    return dict(bound.arguments)


def get_annotations(obj, *, globals=None, locals=None, eval_str=False):
    """a class's own"""
    held = obj.__dict__.get("__annotations__") if isinstance(obj, type) else getattr(obj, "__annotations__", None)
    found = dict(held or {})
    if eval_str:
        for name, kind in found.items():
            if isinstance(kind, str):
                given = globals is not None or locals is not None
                found[name] = eval(kind, globals, locals) if given else _tidemark.evaluate_in(obj, kind)
    return found
