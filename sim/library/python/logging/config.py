"""Loggers, handlers, formatters and filters, made as a dict says."""
import _tidemark
import logging
import logging.handlers
from importlib import import_module

DEFAULT_LOGGING_CONFIG_PORT = 9030


def _resolve(text):
    """what a dotted name stands for"""
    module, _, rest = text.partition(".")
    found = import_module(module)
    for part in rest.split(".") if rest else ():
        module = f"{module}.{part}"
        found = getattr(found, part) if hasattr(found, part) else import_module(module)
    return found


class BaseConfigurator:
    def __init__(self, config):
        self.config = config

    def resolve(self, s):
        return _resolve(s)

    def convert(self, value):
        """`ext://sys.stdout` stands for that object, `cfg://a.b` for another place of the dict"""
        if isinstance(value, dict):
            return {key: self.convert(each) for key, each in value.items()}
        if isinstance(value, (list, tuple)):
            return type(value)([self.convert(each) for each in value])
        if isinstance(value, str) and value.startswith("ext://"):
            return _resolve(value[6:])
        if isinstance(value, str) and value.startswith("cfg://"):
            found = self.config
            for part in value[6:].split("."):
                found = found[part]
            return self.convert(found)
        return value

    def configure_custom(self, config):
        make = config.pop("()")
        make = make if callable(make) else _resolve(make)
        return make(**{key: value for key, value in config.items() if key != "."})


class DictConfigurator(BaseConfigurator):
    def configure(self):
        config = self.convert(self.config)
        if config.get("version") != 1:
            raise ValueError(f"Unsupported version: {config.get('version')}" if "version" in config else
                             "dictionary doesn't specify a version")
        self._formatters = {k: self._formatter(dict(v)) for k, v in config.get("formatters", {}).items()}
        self._filters = {k: self._filter(dict(v)) for k, v in config.get("filters", {}).items()}
        self._handlers = {}
        for name, said in sorted(config.get("handlers", {}).items()):
            self._handlers[name] = self._handler(name, dict(said))
        loggers = config.get("loggers", {})
        if not config.get("incremental") and config.get("disable_existing_loggers", True):
            for name, logger in logging.root.manager.loggerDict.items():
                if name not in loggers and not any([name.startswith(each + ".") for each in loggers]):
                    logger.disabled = True
        for name, said in loggers.items():
            logger = logging.getLogger(name)
            self._logger(logger, said)
            logger.disabled = False
            if said.get("propagate") is not None:
                logger.propagate = said["propagate"]
        if config.get("root"):
            self._logger(logging.root, config["root"])

    def _formatter(self, said):
        if "()" in said:
            return self.configure_custom(said)
        make = _resolve(said["class"]) if said.get("class") else logging.Formatter
        more = {key: said[key] for key in ("validate", "defaults") if key in said}
        return make(said.get("format"), said.get("datefmt"), said.get("style", "%"), **more)

    def _filter(self, said):
        return self.configure_custom(said) if "()" in said else logging.Filter(said.get("name", ""))

    def _handler(self, name, said):
        formatter, level, filters = said.pop("formatter", None), said.pop("level", None), said.pop("filters", ())
        if "()" in said:
            made = self.configure_custom(said)
        else:
            made = _resolve(said.pop("class"))(**said)
        made.name = name
        if formatter:
            made.setFormatter(self._formatters[formatter])
        if level is not None:
            made.setLevel(level)
        for each in filters:
            made.addFilter(self._filters[each] if isinstance(each, str) else each)
        return made

    def _logger(self, logger, said):
        if said.get("level") is not None:
            logger.setLevel(said["level"])
        if self.config.get("incremental"):
            return
        logger.handlers.clear()
        for each in said.get("handlers", ()):
            logger.addHandler(self._handlers[each])
        for each in said.get("filters", ()):
            logger.addFilter(self._filters[each] if isinstance(each, str) else each)


dictConfigClass = DictConfigurator


def dictConfig(config):
    dictConfigClass(config).configure()


def fileConfig(fname, defaults=None, disable_existing_loggers=True, encoding=None):
    _tidemark.refuse("logging.config.fileConfig is not modelled", "use logging.config.dictConfig")


def listen(port=DEFAULT_LOGGING_CONFIG_PORT, verify=None):
    raise NotImplementedError("listen() needs a network")
