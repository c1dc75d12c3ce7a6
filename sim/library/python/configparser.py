import itertools
import re
from collections.abc import MutableMapping

DEFAULTSECT = "DEFAULT"
MAX_INTERPOLATION_DEPTH = 10
_UNSET = object()
_FOLLOWED = "'%' must be followed by '%' or '(', found:"


def _where(source, lineno):
    return "" if source is None else f"While reading from {source!r}{f' [line {lineno:2}]' if lineno else ''}: "


class Error(Exception):
    def __init__(self, msg=""):
        self.message = msg
        super().__init__(msg)

    def __repr__(self):
        return self.message

    __str__ = __repr__


class NoSectionError(Error):
    def __init__(self, section):
        super().__init__(f"No section: {section!r}")
        self.section, self.args = section, (section,)


class DuplicateSectionError(Error):
    def __init__(self, section, source=None, lineno=None):
        where = _where(source, lineno)
        super().__init__(f"{where}{'section' if where else 'Section'} {section!r} already exists")
        self.section, self.source, self.lineno = section, source, lineno


class DuplicateOptionError(Error):
    def __init__(self, section, option, source=None, lineno=None):
        where = _where(source, lineno)
        super().__init__(f"{where}{'option' if where else 'Option'} {option!r} in section {section!r} already exists")
        self.section, self.option, self.source, self.lineno = section, option, source, lineno


class NoOptionError(Error):
    def __init__(self, option, section):
        super().__init__(f"No option {option!r} in section: {section!r}")
        self.option, self.section, self.args = option, section, (option, section)


class InterpolationError(Error):
    def __init__(self, option, section, msg):
        super().__init__(msg)
        self.option, self.section = option, section


class InterpolationMissingOptionError(InterpolationError):
    def __init__(self, option, section, rawval, reference):
        super().__init__(
            option, section, f"Bad value substitution: option {option!r} in section {section!r} contains an "
            f"interpolation key {reference!r} which is not a valid option name. Raw value: {rawval!r}"
        )
        self.reference = reference


class InterpolationSyntaxError(InterpolationError):
    pass


class InterpolationDepthError(InterpolationError):
    def __init__(self, option, section, rawval):
        super().__init__(
            option, section, f"Recursion limit exceeded in value substitution: option {option!r} in section "
            f"{section!r} contains an interpolation key which cannot be substituted in {MAX_INTERPOLATION_DEPTH} "
            f"steps. Raw value: {rawval!r}"
        )


class ParsingError(Error):
    def __init__(self, source):
        super().__init__(f"Source contains parsing errors: {source!r}")
        self.source, self.errors = source, []

    def append(self, lineno, line):
        self.errors.append((lineno, line))
        self.message += f"\n\t[line {lineno:2}]: {line}"
        self.args = (self.message,)


class MissingSectionHeaderError(ParsingError):
    def __init__(self, filename, lineno, line):
        Error.__init__(self, f"File contains no section headers.\nfile: {filename!r}, line: {lineno}\n{line!r}")
        self.source, self.lineno, self.line = filename, lineno, line


class Interpolation:
    """values as they are written"""

    def before_get(self, parser, section, option, value, defaults):
        return value

    def before_set(self, parser, section, option, value):
        return value

    before_read = before_set


class BasicInterpolation(Interpolation):
    """%(name)s is another option of the section or of the defaults"""

    _key = re.compile(r"%\(([^)]+)\)s")

    def before_get(self, parser, section, option, value, defaults):
        return self._filled(parser, option, value, section, defaults, value, 1)

    def before_set(self, parser, section, option, value):
        if "%" in self._key.sub("", value.replace("%%", "")):
            raise ValueError(f"invalid interpolation syntax in {value!r} at position {value.find('%')}")
        return value

    def _filled(self, parser, option, rest, section, given, raw, depth):
        if depth > MAX_INTERPOLATION_DEPTH:
            raise InterpolationDepthError(option, section, raw)
        out = []
        while rest:
            at = rest.find("%")
            if at < 0:
                out.append(rest)
                break
            out.append(rest[:at])
            rest = rest[at:]
            if rest[1:2] == "%":
                out.append("%")
                rest = rest[2:]
                continue
            found = self._key.match(rest)
            if rest[1:2] != "(" or found is None:
                bad = "bad interpolation variable reference" if rest[1:2] == "(" else _FOLLOWED
                raise InterpolationSyntaxError(option, section, f"{bad} {rest!r}")
            name = parser.optionxform(found[1])
            rest = rest[found.end():]
            if name not in given:
                raise InterpolationMissingOptionError(option, section, raw, name)
            out.append(self._filled(parser, option, given[name], section, given, raw, depth + 1))
        return "".join(out)


class ExtendedInterpolation(Interpolation):
    """${name} or ${section:name}"""

    _key = re.compile(r"\$\{([^}]+)\}")

    def before_get(self, parser, section, option, value, defaults):
        return self._filled(parser, option, value, section, defaults, value, 1)

    def _filled(self, parser, option, text, section, given, raw, depth):
        if depth > MAX_INTERPOLATION_DEPTH:
            raise InterpolationDepthError(option, section, raw)

        def one(found):
            parts = found[1].split(":")
            try:
                if len(parts) == 1:
                    value = given[parser.optionxform(parts[0])]
                    return self._filled(parser, option, value, section, given, raw, depth + 1)
                where, name = parts[0], parser.optionxform(parts[1])
                value = parser.get(where, name, raw=True)
            except (KeyError, NoSectionError, NoOptionError):
                raise InterpolationMissingOptionError(option, section, raw, ":".join(parts))
            return self._filled(parser, name, value, where, dict(parser.items(where, raw=True)), raw, depth + 1)

        return "$".join([self._key.sub(one, each) for each in text.split("$$")])


class RawConfigParser(MutableMapping):
    BOOLEAN_STATES = {
        "1": True, "yes": True, "true": True, "on": True, "0": False, "no": False, "false": False, "off": False,
    }
    SECTCRE = re.compile(r"\[(?P<header>.+)\]")
    _DEFAULT_INTERPOLATION = Interpolation()

    def __init__(
        self, defaults=None, dict_type=dict, allow_no_value=False, *, delimiters=("=", ":"),
        comment_prefixes=("#", ";"), inline_comment_prefixes=None, strict=True, empty_lines_in_values=True,
        default_section=DEFAULTSECT, interpolation=_UNSET, converters=None,
    ):
        self._sections, self._defaults, self._proxies = {}, {}, {}
        self._delimiters, self._comments = tuple(delimiters), tuple(comment_prefixes or ())
        self._inline, self._strict = tuple(inline_comment_prefixes or ()), strict
        self._no_value, self._empty_lines, self.default_section = allow_no_value, empty_lines_in_values, default_section
        own = self._DEFAULT_INTERPOLATION if interpolation is _UNSET else interpolation
        self._interpolation = own or Interpolation()
        self.converters = {"int": int, "float": float, "boolean": self._convert_to_boolean, **(converters or {})}
        for name in converters or ():
            setattr(self, "get" + name, _getter(self, name))
        self._proxies[default_section] = SectionProxy(self, default_section)
        self.read_dict({default_section: defaults} if defaults else {})

    def optionxform(self, optionstr):
        return optionstr.lower()

    def defaults(self):
        return self._defaults

    def sections(self):
        return list(self._sections)

    def add_section(self, section):
        if section in self._sections:
            raise DuplicateSectionError(section)
        if section == self.default_section:
            raise ValueError(f"Invalid section name: {section!r}")
        self._sections[section] = {}
        self._proxies[section] = SectionProxy(self, section)

    def has_section(self, section):
        return section in self._sections

    def options(self, section):
        if section not in self._sections:
            raise NoSectionError(section)
        return list({**self._sections[section], **self._defaults})

    def read(self, filenames, encoding=None):
        import os

        read = []
        for name in [filenames] if isinstance(filenames, (str, os.PathLike)) else filenames:
            if not os.path.exists(name):
                continue
            with open(name) as file:
                self._read(file, os.fspath(name))
            read.append(os.fspath(name))
        return read

    def read_file(self, f, source=None):
        self._read(f, getattr(f, "name", "<???>") if source is None else source)

    def read_string(self, string, source="<string>"):
        self._read(string.splitlines(keepends=True), source)

    def read_dict(self, dictionary, source="<dict>"):
        added = set()
        for section, values in dictionary.items():
            section = str(section)
            if section != self.default_section and section not in self._sections:
                self.add_section(section)
            elif self._strict and section in added:
                raise DuplicateSectionError(section, source)
            added.add(section)
            for key, value in values.items():
                self.set(section, self.optionxform(str(key)), None if value is None else str(value))

    def _read(self, lines, source):
        seen, section, name, options, indent, wrong = set(), None, None, None, 0, None
        for number, line in enumerate(lines, 1):
            text, is_comment = self._without_comment(line)
            if not text:
                if self._empty_lines:
                    if not is_comment and section is not None and name and options[name] is not None:
                        options[name].append("")
                else:
                    indent = 10 ** 9
                continue
            depth = len(line) - len(line.lstrip())
            if section is not None and name and depth > indent and options[name] is not None:
                options[name].append(text)
                continue
            indent = depth
            header = self.SECTCRE.match(text)
            if header:
                section, name = header["header"], None
                if section in self._sections:
                    if self._strict and section in seen:
                        raise DuplicateSectionError(section, source, number)
                elif section != self.default_section:
                    self.add_section(section)
                options = self._defaults if section == self.default_section else self._sections[section]
                seen.add(section)
                continue
            if section is None:
                raise MissingSectionHeaderError(source, number, line)
            places = [text.find(each) for each in self._delimiters if each in text]
            if not places and not self._no_value or places and min(places) == 0:
                wrong = wrong or ParsingError(source)
                wrong.append(number, repr(line))
                continue
            at = min(places) if places else len(text)
            name = self.optionxform(text[:at].rstrip())
            if self._strict and (section, name) in seen:
                raise DuplicateOptionError(section, name, source, number)
            seen.add((section, name))
            options[name] = [text[at + 1:].strip()] if places else None
        self._join()
        if wrong is not None:
            raise wrong

    def _without_comment(self, line):
        text = line
        for prefix in self._inline:
            at = text.find(prefix)
            while at >= 0:
                if at == 0 or text[at - 1].isspace():
                    text = text[:at]
                    break
                at = text.find(prefix, at + 1)
        if any([line.strip().startswith(prefix) for prefix in self._comments]):
            return "", True
        return text.strip(), text != line

    def _join(self):
        for section, options in itertools.chain([(self.default_section, self._defaults)], self._sections.items()):
            for name, value in options.items():
                if isinstance(value, list):
                    value = "\n".join(value).rstrip()
                options[name] = self._interpolation.before_read(self, section, name, value)

    def _values(self, section, more=None):
        """of an option the section's own goes before the defaults, and what the caller gives before both"""
        if section not in self._sections and section != self.default_section:
            raise NoSectionError(section)
        more = {self.optionxform(key): None if value is None else str(value) for key, value in (more or {}).items()}
        return {**self._defaults, **self._sections.get(section, {}), **more}

    def get(self, section, option, *, raw=False, vars=None, fallback=_UNSET):
        try:
            values = self._values(section, vars)
        except NoSectionError:
            if fallback is _UNSET:
                raise
            return fallback
        option = self.optionxform(option)
        if option not in values:
            if fallback is _UNSET:
                raise NoOptionError(option, section)
            return fallback
        value = values[option]
        return value if raw or value is None else self._interpolation.before_get(self, section, option, value, values)

    def _get_conv(self, section, option, conv, *, raw=False, vars=None, fallback=_UNSET):
        try:
            return conv(self.get(section, option, raw=raw, vars=vars))
        except (NoSectionError, NoOptionError):
            if fallback is _UNSET:
                raise
            return fallback

    def getint(self, section, option, **kwargs):
        return self._get_conv(section, option, int, **kwargs)

    def getfloat(self, section, option, **kwargs):
        return self._get_conv(section, option, float, **kwargs)

    def getboolean(self, section, option, **kwargs):
        return self._get_conv(section, option, self._convert_to_boolean, **kwargs)

    def _convert_to_boolean(self, value):
        if value.lower() not in self.BOOLEAN_STATES:
            raise ValueError(f"Not a boolean: {value}")
        return self.BOOLEAN_STATES[value.lower()]

    def items(self, section=_UNSET, raw=False, vars=None):
        if section is _UNSET:
            return super().items()
        values = self._values(section, vars)
        if raw:
            return list(values.items())
        return [(name, self._interpolation.before_get(self, section, name, value, values)) for name, value in
                {**self._values(section), **values}.items()]

    def has_option(self, section, option):
        option = self.optionxform(option)
        if not section or section == self.default_section:
            return option in self._defaults
        return section in self._sections and (option in self._sections[section] or option in self._defaults)

    def set(self, section, option, value=None):
        if value:
            value = self._interpolation.before_set(self, section, option, value)
        if not section or section == self.default_section:
            options = self._defaults
        elif section in self._sections:
            options = self._sections[section]
        else:
            raise NoSectionError(section)
        options[self.optionxform(option)] = value

    def write(self, fp, space_around_delimiters=True):
        sign = f" {self._delimiters[0]} " if space_around_delimiters else self._delimiters[0]
        sections = {**({self.default_section: self._defaults} if self._defaults else {}), **self._sections}
        for section, options in sections.items():
            fp.write(f"[{section}]\n")
            for key, value in options.items():
                lines = "" if value is None and self._no_value else sign + str(value).replace("\n", "\n\t")
                fp.write(f"{key}{lines}\n")
            fp.write("\n")

    def remove_option(self, section, option):
        if section not in self._sections and section != self.default_section:
            raise NoSectionError(section)
        options = self._defaults if section == self.default_section else self._sections[section]
        return options.pop(self.optionxform(option), _UNSET) is not _UNSET

    def remove_section(self, section):
        if section not in self._sections:
            return False
        del self._sections[section], self._proxies[section]
        return True

    def __getitem__(self, key):
        if key != self.default_section and key not in self._sections:
            raise KeyError(key)
        return self._proxies[key]

    def __setitem__(self, key, value):
        if key in self and self[key] is value:
            return
        if key == self.default_section:
            self._defaults.clear()
        elif key in self._sections:
            self._sections[key].clear()
        self.read_dict({key: value})

    def __delitem__(self, key):
        if key == self.default_section:
            raise ValueError("Cannot remove the default section.")
        if not self.remove_section(key):
            raise KeyError(key)

    def __contains__(self, key):
        return key == self.default_section or key in self._sections

    def __len__(self):
        return len(self._sections) + 1

    def __iter__(self):
        return itertools.chain((self.default_section,), self._sections)


class ConfigParser(RawConfigParser):
    _DEFAULT_INTERPOLATION = BasicInterpolation()

    def set(self, section, option, value=None):
        if not isinstance(option, str):
            raise TypeError("option keys must be strings")
        if not isinstance(value, str) and not (value is None and self._no_value):
            raise TypeError("option values must be strings")
        super().set(section, option, value)

    def add_section(self, section):
        if not isinstance(section, str):
            raise TypeError("section names must be strings")
        super().add_section(section)


def _getter(parser, name):
    return lambda section, option, **kwargs: parser._get_conv(section, option, parser.converters[name], **kwargs)


class SectionProxy(MutableMapping):
    """the view of one section"""

    def __init__(self, parser, name):
        self._parser, self._name = parser, name

    def __repr__(self):
        return f"<Section: {self._name}>"

    def __getitem__(self, key):
        if not self._parser.has_option(self._name, key):
            raise KeyError(key)
        return self._parser.get(self._name, key)

    def __setitem__(self, key, value):
        self._parser.set(self._name, key, value)

    def __delitem__(self, key):
        if not (self._parser.has_option(self._name, key) and self._parser.remove_option(self._name, key)):
            raise KeyError(key)

    def __contains__(self, key):
        return self._parser.has_option(self._name, key)

    def _options(self):
        is_default = self._name == self._parser.default_section
        return list(self._parser.defaults()) if is_default else self._parser.options(self._name)

    def __len__(self):
        return len(self._options())

    def __iter__(self):
        return iter(self._options())

    @property
    def parser(self):
        return self._parser

    @property
    def name(self):
        return self._name

    def get(self, option, fallback=None, *, raw=False, vars=None, **kwargs):
        return self._parser.get(self._name, option, raw=raw, vars=vars, fallback=fallback)

    def _converted(self, kind, option, fallback=None, **kwargs):
        return self._parser._get_conv(self._name, option, self._parser.converters[kind], fallback=fallback, **kwargs)

    def getint(self, option, fallback=None, **kwargs):
        return self._converted("int", option, fallback, **kwargs)

    def getfloat(self, option, fallback=None, **kwargs):
        return self._converted("float", option, fallback, **kwargs)

    def getboolean(self, option, fallback=None, **kwargs):
        return self._converted("boolean", option, fallback, **kwargs)

    def __getattr__(self, name):
        if name.startswith("get") and name[3:] in self._parser.converters:
            return lambda option, fallback=None, **kwargs: self._converted(name[3:], option, fallback, **kwargs)
        raise AttributeError(name)
