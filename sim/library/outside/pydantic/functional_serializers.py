class Serializer:
    """a method that says how a field, or the model, is dumped"""

    def __init__(self, function, fields, mode):
        self.function = function.__func__ if isinstance(function, (classmethod, staticmethod)) else function
        self.fields, self.mode = fields, mode

    def __get__(self, instance, owner=None):
        return self.function if instance is None else self.function.__get__(instance, owner)


def field_serializer(*fields, mode="plain", return_type=None, when_used="always", check_fields=None):
    return lambda function: Serializer(function, fields, mode)


def model_serializer(function=None, /, *, mode="plain", when_used="always", return_type=None):
    if function is None:
        return lambda given: Serializer(given, None, mode)
    return Serializer(function, None, mode)
