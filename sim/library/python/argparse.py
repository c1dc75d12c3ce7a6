import sys


class Namespace:
    def __init__(self, **kwargs):
        for key, value in kwargs.items():
            setattr(self, key, value)

    def __contains__(self, key):
        return hasattr(self, key)

    def _get_kwargs(self):
        return list(self.__dict__.items())

    def _get_args(self):
        return []

    def __eq__(self, other):
        return isinstance(other, Namespace) and self.__dict__ == other.__dict__

    def __repr__(self):
        return "Namespace(" + ", ".join([f"{k}={v!r}" for k, v in self.__dict__.items()]) + ")"


class HelpFormatter:
    pass


class ArgumentDefaultsHelpFormatter(HelpFormatter):
    pass


class RawDescriptionHelpFormatter(HelpFormatter):
    pass


class RawTextHelpFormatter(HelpFormatter):
    pass


class MetavarTypeHelpFormatter(HelpFormatter):
    pass


class BooleanOptionalAction:
    pass


class ArgumentError(Exception):
    pass


def _refuse(message):
    """ends the program as Python does, which prints why beforehand"""
    raise SystemExit(2) from ArgumentError(message)


class ArgumentTypeError(Exception):
    pass


_NOT_GIVEN = object()
SUPPRESS, OPTIONAL, ZERO_OR_MORE, ONE_OR_MORE, REMAINDER = "==SUPPRESS==", "?", "*", "+", "..."


class Action:
    """how an option is taken by a program's own class: it is called with what was given"""

    def __init__(self, option_strings, dest, nargs=None, const=None, default=None, type=None, choices=None,
                 required=False, help=None, metavar=None):
        self.option_strings, self.dest, self.nargs = option_strings, dest, nargs
        self.const, self.default = const, default
        self.type, self.choices, self.required, self.help, self.metavar = type, choices, required, help, metavar

    def __call__(self, parser, namespace, values, option_string=None):
        raise NotImplementedError(".__call__() not defined")


_StoreAction = _StoreTrueAction = _SubParsersAction = _AppendAction = _HelpAction = Action


def _is_own_action(action):
    return isinstance(action, type) and issubclass(action, Action)


class _Argument:
    def __init__(self, flags, name, action, nargs, const, type, choices, required):
        self.flags, self.dest, self.action, self.nargs, self.const = flags, name, action, nargs, const
        self.type, self.choices, self.required = type, choices, required
        self.takes_none = action in (
            "store_true",
            "store_false",
            "store_const",
            "count",
            "append_const",
            BooleanOptionalAction,
        )

    def convert(self, text):
        value = text if self.type is None else self.type(text)
        if self.choices is not None and value not in self.choices:
            choices = ", ".join([repr(each) for each in self.choices])
            _refuse(f"argument {'/'.join(self.flags)}: invalid choice: {value!r} (choose from {choices})")
        return value


class _Group:
    def __init__(self, parser):
        self._parser = parser

    def add_argument(self, *flags, **options):
        return self._parser.add_argument(*flags, **options)

    def add_argument_group(self, *args, **kwargs):
        return _Group(self)

    def add_mutually_exclusive_group(self, *args, **kwargs):
        return _Group(self)

    def set_defaults(self, **kwargs):
        self._parser.set_defaults(**kwargs)


class _Subparsers:
    def __init__(self, parser, dest):
        self._parser, self._dest, self._parsers = parser, dest, {}

    def add_parser(self, name, *, aliases=(), **options):
        own = {k: v for k, v in options.items() if k not in ("help", "deprecated")}
        made = ArgumentParser(**own)
        for each in (name, *aliases):
            self._parsers[each] = made
        return made


class ArgumentParser(_Group):
    """takes sys.argv, or a list that is given"""

    def __init__(self, *args, **kwargs):
        self._parser = self
        self._values = {}
        self._arguments = []
        self._subparsers = None
        self._file_prefixes = kwargs.get("fromfile_prefix_chars") or ""
        self._default = kwargs.get("argument_default", _NOT_GIVEN)
        for parent in kwargs.get("parents") or ():
            self._arguments.extend(parent._arguments)
            self._values.update(parent._values)
        self.prog, self.description, self.epilog = kwargs.get("prog"), kwargs.get("description"), kwargs.get("epilog")

    def add_argument(
        self,
        *flags,
        action="store",
        nargs=None,
        const=None,
        default=_NOT_GIVEN,
        type=None,
        choices=None,
        required=False,
        help=None,
        metavar=None,
        dest=None,
        version=None,
        **options,
    ):
        long = [f for f in flags if f.startswith("--")]
        name = dest or (long[0] if long else flags[0]).lstrip("-").replace("-", "_")
        # Of several with one name the first gives the default, and what set_defaults() said holds for all.
        is_default = name not in self._values
        if default is _NOT_GIVEN and self._default is not None:
            default = self._default
        if default is _NOT_GIVEN:
            default = None
        else:
            is_default = not any(a.dest == name for a in self._arguments)
        if action == "store_true":
            default = False if default is None else default
        elif action == "store_false":
            default = True if default is None else default
        elif action == "version" or action == "help":
            return
        if isinstance(default, str) and type is not None and default != SUPPRESS:
            default = type(default)
        if _is_own_action(action):
            more = (("nargs", nargs), ("const", const), ("type", type), ("choices", choices))
            options = {k: v for k, v in more if v} | options
            action = action(list(flags), name, default=default, required=required, help=help, **options)
            nargs = action.nargs
        positional = not flags[0].startswith("-")
        self._arguments.append(
            _Argument(
                flags, name, action, nargs, const, type, choices, required or positional and nargs not in ("?", "*")
            )
        )
        if is_default and default != SUPPRESS:
            self._values[name] = default
        return self._arguments[-1]

    def add_subparsers(self, *, dest=None, required=False, **options):
        self._subparsers = _Subparsers(self, dest)
        if dest is not None:
            self._values[dest] = None
            if required:
                self._arguments.append(_Argument((dest,), dest, "store", None, None, None, None, True))
        return self._subparsers

    def set_defaults(self, **kwargs):
        self._values.update(kwargs)

    def get_default(self, dest):
        return self._values.get(dest)

    def error(self, message):
        _refuse(message)

    def print_help(self, file=None):
        pass

    print_usage = print_help

    def format_help(self):
        return ""

    def _from_files(self, words):
        """a word that begins with one of fromfile_prefix_chars stands for the lines of a file"""
        read = []
        for word in words:
            if word and word[0] in self._file_prefixes:
                with open(word[1:]) as file:
                    lines = [each for line in file.read().splitlines() for each in self.convert_arg_line_to_args(line)]
                read.extend(self._from_files(lines))
            else:
                read.append(word)
        return read

    def convert_arg_line_to_args(self, arg_line):
        return [arg_line]

    def _parse(self, words, known):
        if self._file_prefixes:
            words = self._from_files(words)
        values, given, extra = dict(self._values), [], []
        places = [a for a in self._arguments if not a.flags[0].startswith("-")]
        at = 0
        while at < len(words):
            word, inline = words[at], None
            at += 1
            if word.startswith("--") and "=" in word:
                word, inline = word.split("=", 1)
            found = [a for a in self._arguments if word in a.flags and word.startswith("-")]
            short = [a for a in self._arguments if word[:2] in a.flags]
            if not found and short and len(word) > 2 and word[0] == "-" and word[1] != "-":
                found = short
                if short[0].takes_none:
                    words = [*words[:at], "-" + word[2:], *words[at:]]
                else:
                    inline = word[2:]
            negated = [
                a
                for a in self._arguments
                if a.action is BooleanOptionalAction and word in ["--no-" + f[2:] for f in a.flags]
            ]
            if (
                not found
                and not negated
                and not word.startswith("-")
                and self._subparsers is not None
                and word in self._subparsers._parsers
            ):
                inner, rest = self._subparsers._parsers[word]._parse(words[at:], known)
                values.update(inner)
                if self._subparsers._dest is not None:
                    values[self._subparsers._dest] = word
                    given.append(self._subparsers._dest)
                extra += rest
                break
            if not found and not negated and not word.startswith("-") and places:
                found = [places.pop(0)]
                at -= 1
            if not found and not negated:
                if not known:
                    _refuse(f"unrecognized arguments: {words[at - 1]}")
                extra.append(words[at - 1])
                continue
            one = (found or negated)[0]
            given.append(one.dest)
            if one.nargs == 0:
                values = self._acted(one, values, [], word)
                continue
            if one.takes_none:
                if one.action == "count":
                    values[one.dest] = (values.get(one.dest) or 0) + 1
                elif one.action == "append_const":
                    values[one.dest] = (values.get(one.dest) or []) + [one.const]
                else:
                    values[one.dest] = {"store_true": True, "store_false": False, "store_const": one.const}.get(
                        one.action, not negated
                    )
                continue
            taken = [inline] if inline is not None else []
            most = one.nargs if isinstance(one.nargs, int) else 1 if one.nargs in (None, "?") else len(words)
            while (
                inline is None
                and at < len(words)
                and len(taken) < most
                and (not words[at].startswith("-") or _is_number(words[at]))
            ):
                taken.append(words[at])
                at += 1
            if not taken and one.nargs in (None, "+"):
                count = "one argument" if one.nargs is None else "at least one argument"
                _refuse(f"argument {'/'.join(one.flags)}: expected {count}")
            converted = [one.convert(t) for t in taken]
            value = (
                converted[0]
                if one.nargs is None
                else (converted[0] if converted else one.const) if one.nargs == "?" else converted
            )
            if isinstance(one.action, Action):
                values = self._acted(one, values, value, word)
                continue
            values[one.dest] = (values.get(one.dest) or []) + [value] if one.action == "append" else value
        missing = ["/".join(a.flags) for a in self._arguments if a.required and a.dest not in given]
        if missing:
            raise RuntimeError("the following arguments are required: " + ", ".join(missing) +
                               "; give them behind the script's name: tidemark run SCRIPT -- ARGS")
        return values, extra

    def _acted(self, one, values, value, word):
        namespace = Namespace(**values)
        one.action(self, namespace, value, word)
        return dict(vars(namespace))

    def parse_args(self, args=None, namespace=None):
        values = self._parse(list(sys.argv[1:] if args is None else args), False)[0]
        if namespace is None:
            return Namespace(**values)
        for key, value in values.items():
            setattr(namespace, key, value)
        return namespace

    def parse_known_args(self, args=None, namespace=None):
        values, extra = self._parse(list(sys.argv[1:] if args is None else args), True)
        return Namespace(**values), extra


def _is_number(text):
    return text[1:].replace(".", "", 1).replace("e-", "", 1).isdigit()


class FileType:
    def __init__(self, mode="r", **options):
        self.mode = mode
