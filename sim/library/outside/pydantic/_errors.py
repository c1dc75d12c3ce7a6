"""What pydantic raises."""

_MESSAGES = {
    "missing": "Field required",
    "extra_forbidden": "Extra inputs are not permitted",
    "frozen_field": "Field is frozen",
    "frozen_instance": "Instance is frozen",
    "bool_type": "Input should be a valid boolean",
    "bool_parsing": "Input should be a valid boolean, unable to interpret input",
    "int_type": "Input should be a valid integer",
    "int_parsing": "Input should be a valid integer, unable to parse string as an integer",
    "int_from_float": "Input should be a valid integer, got a number with a fractional part",
    "float_type": "Input should be a valid number",
    "float_parsing": "Input should be a valid number, unable to parse string as a number",
    "finite_number": "Input should be a finite number",
    "string_type": "Input should be a valid string",
    "bytes_type": "Input should be a valid bytes",
    "list_type": "Input should be a valid list",
    "tuple_type": "Input should be a valid tuple",
    "set_type": "Input should be a valid set",
    "frozen_set_type": "Input should be a valid frozenset",
    "dict_type": "Input should be a valid dictionary",
    "none_required": "Input should be None",
    "callable_type": "Input should be callable",
    "path_type": "Input is not a valid path",
    "path_not_file": "Path does not point to a file",
    "path_not_directory": "Path does not point to a directory",
    "model_attributes_type": "Input should be a valid dictionary or object to extract fields from",
}


class PydanticUserError(RuntimeError):
    def __init__(self, message, *, code=None):
        super().__init__(message)
        self.message, self.code = message, code


class PydanticSchemaGenerationError(PydanticUserError):
    pass


class PydanticUndefinedAnnotation(NameError):
    pass


class Fault:
    """one value that does not fit"""

    def __init__(self, kind, value, message=None, where=(), context=None):
        self.kind, self.value, self.where, self.context = kind, value, where, context
        self.message = _MESSAGES[kind] if message is None else message

    def of(self, value):
        return Fault(self.kind, value, self.message, self.where, self.context)

    def under(self, key):
        return Fault(self.kind, self.value, self.message, (key,) + self.where, self.context)


class Misfit(Exception):
    """faults on their way to the ValidationError"""

    def __init__(self, faults):
        super().__init__(len(faults))
        self.faults = faults


def fail(kind, value, message=None, context=None):
    raise Misfit([Fault(kind, value, message, (), context)])


def _short(text):
    return text if len(text) <= 50 else text[:25] + "..." + text[-24:]


class ValidationError(ValueError):
    def __init__(self, title, faults):
        self.title, self._faults = title, faults
        super().__init__(self._text())

    def _text(self):
        count = len(self._faults)
        lines = [f"{count} validation error{'' if count == 1 else 's'} for {self.title}"]
        for fault in self._faults:
            if fault.where:
                lines.append(".".join([str(key) for key in fault.where]))
            given = _short(repr(fault.value))
            kind = type(fault.value).__name__
            lines.append(f"  {fault.message} [type={fault.kind}, input_value={given}, input_type={kind}]")
        return "\n".join(lines)

    def __str__(self):
        return self._text()

    def __repr__(self):
        return self._text()

    def error_count(self):
        return len(self._faults)

    def errors(self, *, include_url=True, include_context=True, include_input=True):
        out = []
        for fault in self._faults:
            row = {"type": fault.kind, "loc": fault.where, "msg": fault.message}
            if include_input:
                row["input"] = fault.value
            if include_context and fault.context is not None:
                row["ctx"] = fault.context
            out.append(row)
        return out
