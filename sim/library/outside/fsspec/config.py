conf = {}


def apply_config(cls, kwargs, conf_dict=None):
    """what the configuration says of the kind of file system, and over it what is given"""
    table = conf if conf_dict is None else conf_dict
    protocols = cls.protocol if isinstance(cls.protocol, (tuple, list)) else [cls.protocol]
    out = {}
    for protocol in protocols:
        out.update(table.get(protocol, {}))
    out.update(kwargs)
    return out
