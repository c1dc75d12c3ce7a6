"""What is set here decides where records go, and they go nowhere."""
import logging

DEFAULT_LOGGING_CONFIG_PORT = 9030


class BaseConfigurator:
    def __init__(self, config):
        self.config = config


class DictConfigurator(BaseConfigurator):
    def configure(self):
        loggers = dict(self.config.get("loggers", {}))
        if "root" in self.config:
            loggers[""] = self.config["root"]
        for name, said in loggers.items():
            if "level" in said:
                logging.getLogger(name or None).setLevel(said["level"])


dictConfigClass = DictConfigurator


def dictConfig(config):
    dictConfigClass(config).configure()


def fileConfig(fname, defaults=None, disable_existing_loggers=True, encoding=None):
    pass


def listen(port=DEFAULT_LOGGING_CONFIG_PORT, verify=None):
    raise NotImplementedError("listen() needs a network")
