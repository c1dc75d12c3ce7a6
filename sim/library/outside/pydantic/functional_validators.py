from pydantic._types import AfterValidator, BeforeValidator, InstanceOf, PlainValidator, SkipValidation, WrapValidator


class Checker:
    """a method that looks at fields, or at the whole model, when values come in"""

    def __init__(self, function, fields, mode):
        self.is_classmethod = isinstance(function, classmethod)
        self.function = function.__func__ if isinstance(function, (classmethod, staticmethod)) else function
        self.is_static = isinstance(function, staticmethod)
        self.fields, self.mode = fields, mode

    def __get__(self, instance, owner=None):
        if self.is_static:
            return self.function
        if instance is not None and not self.is_classmethod and self.fields is None and self.mode == "after":
            return self.function.__get__(instance, owner)
        return self.function.__get__(owner if owner is not None else type(instance), type(owner))


def field_validator(field, /, *fields, mode="after", check_fields=None, json_schema_input_type=None):
    return lambda function: Checker(function, (field,) + fields, mode)


def model_validator(*, mode):
    return lambda function: Checker(function, None, mode)


def validator(field, /, *fields, pre=False, each_item=False, always=False, check_fields=None, allow_reuse=False):
    return lambda function: Checker(function, (field,) + fields, "before" if pre else "after")


def root_validator(*args, pre=False, skip_on_failure=False, allow_reuse=False):
    def mark(function):
        return Checker(function, None, "before" if pre else "after_values")

    return mark(args[0]) if args else mark
