"""Models: classes whose annotations say what their instances hold."""

import copy
import json
from typing import Annotated, ClassVar, Generic, TypeVar, get_args, get_origin

import _tidemark
from pydantic._errors import Fault, Misfit, PydanticUserError, ValidationError
from pydantic._dumps import dumped, fields_of
from pydantic._types import ConfigDict
from pydantic._values import Ask, ValidationInfo, annotated_rule, rule_of, run_user, takes_info
from pydantic.fields import ComputedField, FieldInfo, ModelPrivateAttr, PydanticUndefined
from pydantic.functional_serializers import Serializer
from pydantic.functional_validators import Checker

_OWN = ("model_config", "model_fields", "model_computed_fields")


def _evaluate(owner, text, namespace):
    """What the text of an annotation names, where its class stands."""
    while isinstance(text, str):
        if text in namespace:
            return namespace[text]
        text = _tidemark.evaluate_in(owner, text)
    return text


class ModelMetaclass(type):
    def __new__(meta, name, bases, namespace, **options):
        config = ConfigDict()
        for base in bases[::-1]:
            config.update(getattr(base, "model_config", {}))
        config.update(namespace.get("model_config", {}))
        old = namespace.get("Config")
        if isinstance(old, type):
            config.update({k: v for k, v in vars(old).items() if not k.startswith("__")})
        config.update({k: v for k, v in options.items() if k not in ("metaclass",)})
        own, private, plain = {}, {}, {}
        texts = namespace.get("__annotations__", {})
        for key, value in namespace.items():
            if key.startswith("__") or key in _OWN:
                plain[key] = value
            elif isinstance(value, ModelPrivateAttr):
                private[key] = value
            elif (
                key.startswith("_")
                and not callable(value)
                and not isinstance(value, (property, classmethod, staticmethod, Checker))
            ):
                private[key] = ModelPrivateAttr(value)
            elif key in texts and not _is_class_variable(texts[key]):
                own[key] = value
            elif isinstance(value, FieldInfo):
                raise PydanticUserError(
                    f"Field '{key}' defined on a base class was overridden by a non-annotated attribute. "
                    "All field definitions, "
                    "including overrides, require a type annotation.",
                    code="model-field-overridden",
                )
            else:
                plain[key] = value
        plain["model_config"] = config
        cls = super().__new__(meta, name, bases, plain)
        fields, privates, checkers, serializers, computed = {}, {}, {}, {}, {}
        for base in cls.__mro__[:0:-1]:
            fields.update(base.__dict__.get("__pydantic_fields__", {}))
            privates.update(base.__dict__.get("__private_attributes__", {}))
            for table, kind in ((checkers, Checker), (serializers, Serializer), (computed, ComputedField)):
                for key, value in base.__dict__.items():
                    if isinstance(value, kind):
                        table[key] = value
                    elif key in table and not key.startswith("__"):
                        del table[key]
        for table, kind in ((checkers, Checker), (serializers, Serializer), (computed, ComputedField)):
            for key, value in plain.items():
                if isinstance(value, kind):
                    table[key] = value
        fields = {key: copy.copy(field) for key, field in fields.items()}
        for key, text in texts.items():
            if key.startswith("_"):
                private.setdefault(key, ModelPrivateAttr())
            elif key not in _OWN and not _is_class_variable(text):
                given = own.get(key, PydanticUndefined)
                field = given if isinstance(given, FieldInfo) else FieldInfo(given)
                field.annotation = text
                fields[key] = field
        privates.update(private)
        cls.__pydantic_fields__, cls.__private_attributes__ = fields, privates
        cls.__pydantic_checkers__, cls.__pydantic_serializers__, cls.__pydantic_computed__ = (
            checkers,
            serializers,
            computed,
        )
        cls.__pydantic_rules__, cls.__pydantic_scope__ = None, dict(namespace.get("__pydantic_scope__", {}))
        cls.__class_vars__ = {key for key, text in texts.items() if _is_class_variable(text)}
        for key, value in list(privates.items()):
            hook = getattr(value.default, "__set_name__", None)
            if hook is not None and not isinstance(value.default, type):
                hook(cls, key)
        parent = super(cls, cls)
        if hasattr(parent, "__pydantic_init_subclass__"):
            parent.__pydantic_init_subclass__(**{k: v for k, v in options.items() if k not in ("metaclass",)})
        return cls

    @property
    def model_fields(cls):
        _settle(cls)
        return cls.__pydantic_fields__

    @property
    def model_computed_fields(cls):
        return cls.__pydantic_computed__

    def __getattr__(cls, name):
        privates = cls.__dict__.get("__private_attributes__", {})
        if name in privates:
            return privates[name]
        raise AttributeError(f"type object '{cls.__name__}' has no attribute '{name}'")


def _is_class_variable(text):
    return isinstance(text, str) and text.replace("typing.", "").lstrip("'\"").startswith(("ClassVar", "t.ClassVar"))


def _settle(cls):
    """The fields' types are looked up when the first of them is needed: a class may name one that comes later."""
    if cls.__pydantic_rules__ is not None:
        return cls.__pydantic_rules__
    rules = cls.__pydantic_rules__ = {}
    scope = cls.__pydantic_scope__
    for name, field in cls.__pydantic_fields__.items():
        owner = next((base for base in cls.__mro__ if name in base.__dict__.get("__annotations__", {})), cls)

        def resolve(text, owner=owner):
            if text == cls.__name__ or text == "Self":
                return cls
            return _evaluate(owner, text, scope)

        try:
            kind = resolve(field.annotation) if isinstance(field.annotation, str) else field.annotation
        except NameError as error:
            cls.__pydantic_rules__ = None
            raise PydanticUserError(
                f"`{cls.__name__}` is not fully defined; you should define {str(error).split(chr(39))[1]!r}, then call "
                f"`{cls.__name__}.model_rebuild()`.",
                code="class-not-fully-defined",
            ) from None
        if isinstance(kind, TypeVar) and kind.__name__ in scope:
            kind = scope[kind.__name__]
        if get_origin(kind) is Annotated:
            kind, *extras = get_args(kind)
            for extra in extras:
                if isinstance(extra, FieldInfo):
                    joined = extra.joined(field)
                    vars(field).update(vars(joined))
                else:
                    field.metadata = field.metadata + [extra]
        field.annotation = kind
        rule = annotated_rule(rule_of(kind, resolve, cls.model_config), [field])
        rules[name] = _checked(cls, name, rule)
    return rules


def _checked(cls, name, rule):
    """A field's rule, with the class's own validators around it."""
    for key, checker in cls.__pydantic_checkers__.items():
        if checker.fields is None or name not in checker.fields and "*" not in checker.fields:
            continue
        function = getattr(cls, key)
        info = takes_info(function, 2 if checker.mode == "wrap" else 1)

        def call(value, ask, *more, function=function, info=info):
            return run_user(function, value, *more, *([ask.info] if info else []))

        if checker.mode == "after":
            rule = lambda value, ask, rule=rule, call=call: call(rule(value, ask), ask)
        elif checker.mode == "before":
            rule = lambda value, ask, rule=rule, call=call: rule(call(value, ask), ask)
        elif checker.mode == "plain":
            rule = lambda value, ask, call=call: call(value, ask)
        else:
            rule = lambda value, ask, rule=rule, call=call: call(value, ask, lambda given: rule(given, ask))
    return rule


def _names_of(field, name, config):
    """the keys under which a field's value may come"""
    alias = field.validation_alias if field.validation_alias is not None else field.alias
    if alias is None and config.get("alias_generator") is not None:
        alias = config["alias_generator"](name)
    if alias is None:
        return (name,)
    return (alias, name) if config.get("populate_by_name") or config.get("validate_by_name") else (alias,)


def _read(cls, data, ask):
    """The values of a model's fields in some data: (values, extra, names that were set)."""
    rules, config = _settle(cls), cls.model_config
    values, given, faults, taken = {}, set(), [], set()
    for name, field in cls.__pydantic_fields__.items():
        keys = _names_of(field, name, config)
        found = next((key for key in keys if key in data), None)
        about = Ask(config.get("strict", False) or ask.strict, ValidationInfo(values, name, ask.info.context, config))
        if found is not None:
            taken.add(found)
            given.add(name)
            value = data[found]
        elif field.is_required():
            faults.append(Fault("missing", data, None, (keys[0],)))
            continue
        else:
            value = field.get_default(call_default_factory=True)
            asked = (
                field.validate_default if field.validate_default is not None else config.get("validate_default", False)
            )
            if not asked:
                values[name] = value
                continue
        try:
            values[name] = rules[name](value, about)
        except Misfit as misfit:
            faults += [fault.under(found if found is not None else name) for fault in misfit.faults]
    extra, policy = None, config.get("extra", "ignore")
    policy = getattr(policy, "value", policy)
    rest = {key: value for key, value in data.items() if key not in taken}
    if policy == "forbid":
        faults += [Fault("extra_forbidden", value, None, (key,)) for key, value in rest.items()]
    elif policy == "allow":
        extra = rest
        given |= set(rest)
    if faults:
        raise Misfit(faults)
    return values, extra, given


def _model_checkers(cls, mode):
    return [key for key, c in cls.__pydantic_checkers__.items() if c.fields is None and c.mode == mode]


def _before(cls, data, ask):
    for key in _model_checkers(cls, "before")[::-1]:
        function = getattr(cls, key)
        data = run_user(function, data, *([ask.info] if takes_info(function, 1) else []))
    return data


def _after(cls, instance, ask):
    for key in _model_checkers(cls, "after"):
        checker = cls.__pydantic_checkers__[key]
        if checker.is_classmethod:
            made = run_user(getattr(cls, key), instance)
        else:
            info = takes_info(checker.function, 1)
            made = run_user(checker.function, instance, *([ask.info] if info else []))
        if made is not None:
            instance = made
    for key in _model_checkers(cls, "after_values"):
        instance.__dict__.update(run_user(getattr(cls, key), fields_of(instance)))
    return instance


def _fill(cls, data, ask, instance=None):
    """An instance of a model out of data; one that is there already is filled. Errors: Misfit."""
    data = _before(cls, data, ask)
    if isinstance(data, cls) and instance is None:
        return data
    if not hasattr(data, "keys"):
        if not cls.model_config.get("from_attributes"):
            kinds = "a valid dictionary or instance of " + cls.__name__
            raise Misfit([Fault("model_type", data, "Input should be " + kinds, (), {"class_name": cls.__name__})])
        data = {name: getattr(data, name) for name in cls.__pydantic_fields__ if hasattr(data, name)}
    values, extra, given = _read(cls, data, ask)
    if instance is None:
        instance = cls.__new__(cls)
    _place(cls, instance, values, extra, given, ask.info.context)
    try:
        return _after(cls, instance, ask)
    except Misfit as misfit:
        raise Misfit([fault if fault.where else fault.of(data) for fault in misfit.faults]) from None


def _place(cls, instance, values, extra, given, context=None):
    state = instance.__dict__
    state.clear()
    state.update(values)
    object.__setattr__(instance, "__pydantic_fields_set__", given)
    object.__setattr__(instance, "__pydantic_extra__", extra)
    private = {
        name: p.get_default()
        for name, p in cls.__private_attributes__.items()
        if p.default is not PydanticUndefined or p.default_factory
    }
    object.__setattr__(instance, "__pydantic_private__", private)
    instance.model_post_init(context)


def _attempt(cls, run):
    try:
        return run()
    except Misfit as misfit:
        raise ValidationError(cls.model_config.get("title") or cls.__name__, misfit.faults) from None


class BaseModel(metaclass=ModelMetaclass):
    model_config = ConfigDict()

    def __init__(self, /, **data):
        cls = type(self)
        _attempt(cls, lambda: _fill(cls, data, Ask(), self))

    def model_post_init(self, context, /):
        pass

    @classmethod
    def __pydantic_rule__(cls):
        def check(value, ask):
            if isinstance(value, cls) and cls.model_config.get("revalidate_instances", "never") == "never":
                return value
            if isinstance(value, BaseModel) and isinstance(value, cls):
                value = fields_of(value)
            if ask.strict and not isinstance(value, dict):
                raise Misfit([Fault("model_type", value, f"Input should be an instance of {cls.__name__}")])
            return (
                _fill(cls, value, Ask(False, ValidationInfo(context=ask.info.context)))
                if not _own_init(cls)
                else _called(cls, value)
            )

        return check

    def __setattr__(self, name, value):
        cls = type(self)
        if name in cls.__class_vars__:
            raise AttributeError(
                f"{name!r} is a ClassVar of `{cls.__name__}` and cannot be set on an instance. "
                "If you want to set a value on "
                f"the class, use `{cls.__name__}.{name} = value`."
            )
        if name.startswith("_"):
            if self.__pydantic_private__ is None or name not in cls.__private_attributes__:
                object.__setattr__(self, name, value)
            else:
                self.__pydantic_private__[name] = value
            return
        member = getattr(cls, name, None) if name not in cls.__pydantic_fields__ else None
        if isinstance(member, property):
            member.__set__(self, value)
            return
        field = cls.__pydantic_fields__.get(name)
        if cls.model_config.get("frozen"):
            raise ValidationError(cls.__name__, [Fault("frozen_instance", value, None, (name,))])
        if field is not None and field.frozen:
            raise ValidationError(cls.__name__, [Fault("frozen_field", value, None, (name,))])
        if field is None:
            if cls.model_config.get("extra") != "allow":
                if cls.model_config.get("validate_assignment"):
                    message = f"Object has no attribute '{name}'"
                    raise ValidationError(cls.__name__, [Fault("no_such_attribute", value, message, (name,))])
                raise ValueError(f'"{cls.__name__}" object has no field "{name}"')
            self.__pydantic_extra__[name] = value
            return
        if cls.model_config.get("validate_assignment"):
            _attempt(cls, lambda: _assign(cls, self, name, value))
        else:
            self.__dict__[name] = value
            self.__pydantic_fields_set__.add(name)

    def __getattr__(self, name):
        cls = type(self)
        if name in cls.__private_attributes__ and name in (self.__pydantic_private__ or ()):
            return self.__pydantic_private__[name]
        extra = None if name.startswith("__") else self.__pydantic_extra__
        if extra is not None and name in extra:
            return extra[name]
        raise AttributeError(f"{cls.__name__!r} object has no attribute {name!r}")

    def __delattr__(self, name):
        if name in (self.__pydantic_private__ or ()):
            del self.__pydantic_private__[name]
        elif name in self.__dict__:
            if type(self).model_config.get("frozen"):
                raise ValidationError(type(self).__name__, [Fault("frozen_instance", None, None, (name,))])
            del self.__dict__[name]
        elif self.__pydantic_extra__ is not None and name in self.__pydantic_extra__:
            del self.__pydantic_extra__[name]
        else:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __eq__(self, other):
        if not isinstance(other, BaseModel):
            return NotImplemented
        return (
            type(self) is type(other)
            and fields_of(self) == fields_of(other)
            and self.__pydantic_private__ == other.__pydantic_private__
            and self.__pydantic_extra__ == other.__pydantic_extra__
        )

    def __hash__(self):
        if type(self).model_config.get("frozen"):
            return hash(type(self)) ^ hash(tuple(fields_of(self).values()))
        raise TypeError(f"unhashable type: '{type(self).__name__}'")

    def __iter__(self):
        yield from fields_of(self).items()
        yield from (self.__pydantic_extra__ or {}).items()

    def __repr_args__(self):
        fields = type(self).__pydantic_fields__
        for name, value in self.__dict__.items():
            if name in fields and fields[name].repr:
                yield name, value
        yield from (self.__pydantic_extra__ or {}).items()
        for name in type(self).__pydantic_computed__:
            yield name, getattr(self, name)

    def __repr__(self):
        return f"{type(self).__name__}({', '.join([f'{name}={value!r}' for name, value in self.__repr_args__()])})"

    def __str__(self):
        return " ".join([f"{name}={value!r}" for name, value in self.__repr_args__()])

    def __copy__(self):
        made = type(self).__new__(type(self))
        _place_as(made, fields_of(self), self)
        return made

    def __deepcopy__(self, memo=None):
        made = type(self).__new__(type(self))
        _place_as(made, copy.deepcopy(fields_of(self), memo), self)
        return made

    def __class_getitem__(cls, items):
        items = items if isinstance(items, tuple) else (items,)
        names = [
            each.__name__
            for base in getattr(cls, "__orig_bases__", ())
            for each in get_args(base)
            if isinstance(each, TypeVar)
        ]
        title = f"{cls.__name__}[{', '.join([getattr(each, '__name__', repr(each)) for each in items])}]"
        return ModelMetaclass(
            title, (cls,), {"__module__": cls.__module__, "__pydantic_scope__": dict(zip(names, items))}
        )

    @property
    def model_fields_set(self):
        return self.__pydantic_fields_set__

    @property
    def model_extra(self):
        return self.__pydantic_extra__

    @classmethod
    def model_validate(cls, obj, *, strict=None, from_attributes=None, context=None, by_alias=None, by_name=None):
        def run():
            if isinstance(obj, cls):
                return obj
            if from_attributes and not hasattr(obj, "keys"):
                return _fill(cls, {n: getattr(obj, n) for n in cls.__pydantic_fields__ if hasattr(obj, n)}, Ask())
            return _fill(cls, obj, Ask(bool(strict), ValidationInfo(context=context)))

        return _attempt(cls, run)

    @classmethod
    def model_validate_json(cls, json_data, *, strict=None, context=None, by_alias=None, by_name=None):
        return cls.model_validate(json.loads(json_data), context=context)

    @classmethod
    def model_construct(cls, _fields_set=None, **values):
        made = cls.__new__(cls)
        held = {}
        for name, field in cls.__pydantic_fields__.items():
            keys = [key for key in (*_names_of(field, name, cls.model_config), name) if key in values]
            if keys:
                held[name] = values.pop(keys[0])
            elif not field.is_required():
                held[name] = field.get_default(call_default_factory=True)
        extra = values if cls.model_config.get("extra") == "allow" else None
        _place(cls, made, held, extra, set(held) if _fields_set is None else _fields_set)
        return made

    @classmethod
    def model_rebuild(cls, *, force=False, raise_errors=True, _parent_namespace_depth=2, _types_namespace=None):
        cls.__pydantic_scope__.update(_types_namespace or {})
        _settle(cls)
        return True

    @classmethod
    def model_json_schema(cls, *args, **options):
        _tidemark.refuse("model_json_schema() of pydantic")

    def model_copy(self, *, update=None, deep=False):
        made = self.__deepcopy__() if deep else self.__copy__()
        for name, value in (update or {}).items():
            if name in type(self).__pydantic_fields__ or made.__pydantic_extra__ is None:
                made.__dict__[name] = value
            else:
                made.__pydantic_extra__[name] = value
        made.__pydantic_fields_set__.update(update or {})
        return made

    def model_dump(self, *, mode="python", **options):
        return dumped(self, mode, options)

    def model_dump_json(self, *, indent=None, ensure_ascii=False, **options):
        separators = (",", ":") if indent is None else None
        return json.dumps(
            dumped(self, "json", options), indent=indent, separators=separators, ensure_ascii=ensure_ascii
        )

    dict = model_dump
    json = model_dump_json
    copy = model_copy
    parse_obj = model_validate
    construct = model_construct


def _own_init(cls):
    return cls.__init__ is not BaseModel.__init__


def _called(cls, value):
    """A model with an __init__ of its own is made by it, as pydantic does."""
    value = _before(cls, value, Ask()) if not hasattr(value, "keys") else value
    if isinstance(value, cls):
        return value
    if not hasattr(value, "keys"):
        raise Misfit([Fault("model_type", value, f"Input should be a valid dictionary or instance of {cls.__name__}")])
    try:
        return cls(**value)
    except ValidationError as error:
        raise Misfit(error._faults) from None


def _place_as(made, state, other):
    made.__dict__.update(state)
    extra, private = other.__pydantic_extra__, other.__pydantic_private__
    object.__setattr__(made, "__pydantic_extra__", None if extra is None else dict(extra))
    object.__setattr__(made, "__pydantic_fields_set__", set(other.__pydantic_fields_set__))
    object.__setattr__(made, "__pydantic_private__", None if private is None else dict(private))


def _assign(cls, instance, name, value):
    """A field of a model that checks what it is given later."""
    for key in _model_checkers(cls, "before")[::-1]:
        run_user(getattr(cls, key), instance)
    others = {key: held for key, held in fields_of(instance).items() if key != name}
    ask = Ask(cls.model_config.get("strict", False), ValidationInfo(others, name, None, cls.model_config))
    try:
        made = _settle(cls)[name](value, ask)
    except Misfit as misfit:
        raise Misfit([fault.under(name) for fault in misfit.faults]) from None
    instance.__dict__[name] = made
    instance.__pydantic_fields_set__.add(name)
    _after(cls, instance, ask)


class RootModel(BaseModel, Generic[TypeVar("RootModelRootType")]):
    """a model of one value"""

    def __init__(self, /, root=PydanticUndefined, **data):
        given = data if root is PydanticUndefined else root
        super().__init__(root=given)

    @classmethod
    def __class_getitem__(cls, item):
        return ModelMetaclass(
            f"RootModel[{getattr(item, '__name__', item)}]",
            (cls,),
            {
                "__module__": cls.__module__,
                "__annotations__": {"root": "Root"},
                "__pydantic_scope__": {"Root": item},
            },
        )

    def model_dump(self, *, mode="python", **options):
        return dumped(self.root, mode, options)


def create_model(
    model_name, /, *, __config__=None, __doc__=None, __base__=None, __module__=None, __validators__=None, **fields
):
    """A model of fields that are given as name=(type, default)."""
    bases = __base__ if isinstance(__base__, tuple) else (__base__ or BaseModel,)
    scope, texts, namespace = {}, {}, {"__module__": __module__ or __name__, "__doc__": __doc__}
    for name, given in fields.items():
        kind, *default = given if isinstance(given, tuple) else (given,)
        texts[name], scope["_type_of_" + name] = "_type_of_" + name, kind
        if default and default[0] is not ...:
            namespace[name] = default[0]
    namespace.update(__validators__ or {})
    namespace["__annotations__"], namespace["__pydantic_scope__"] = texts, scope
    if __config__ is not None:
        namespace["model_config"] = __config__
    return ModelMetaclass(model_name, bases, namespace)
