"""What of a class's body is a member of an enumeration, and of which type the members are."""

import enum

_function = type(lambda: None)
plain_types = (str, int, float, tuple, list, dict, bytes, complex)
_SUNDER = (
    "_generate_next_value_", "_missing_", "_ignore_", "_order_", "_numeric_repr_", "_value_", "_name_",
    "_iter_member_", "_iter_member_by_value_", "_iter_member_by_def_", "_new_member_", "_sort_order_", "_flag_mask_",
    "_singles_mask_", "_all_bits_",
)


def is_dunder(name):
    return len(name) > 4 and name[:2] == "__" == name[-2:] and name[2] != "_" != name[-3]


def is_sunder(name):
    return len(name) > 2 and name[0] == "_" == name[-1] and name[1] != "_" != name[-2]


def is_private(cls_name, name):
    start = f"_{cls_name}__"
    return len(name) > len(start) and name.startswith(start) and not name.endswith("__")


def is_descriptor(value):
    if isinstance(value, (_function, classmethod, staticmethod)):
        return True
    kind = type(value)
    return hasattr(kind, "__get__") or hasattr(kind, "__set__") or hasattr(kind, "__delete__")


def is_member(cls_name, name, value, whole):
    if is_private(cls_name, name):
        return False
    if is_sunder(name):
        if name not in _SUNDER:
            raise ValueError(f"_sunder_ names, such as {name!r}, are reserved for future Enum use")
        return False
    if is_dunder(name) or isinstance(value, enum.nonmember):
        return False
    if isinstance(value, enum.member):
        return True
    if isinstance(value, type):
        # A class in the body belongs to it.
        inner = getattr(value, "__qualname__", "")
        if inner == f"{whole}.{value.__name__}":
            return False
    return not is_descriptor(value)


def member_type(name, bases):
    """The type whose values the members are, and whether it makes them."""
    found = {}
    for chain in bases:
        candidate = None
        for base in chain.__mro__:
            if base is object:
                continue
            if isinstance(base, enum.EnumType):
                if base._member_type_ is not object:
                    found[base._member_type_] = True
                    break
            elif (
                base in plain_types
                or base.__module__ == "datetime"
                or "__new__" in base.__dict__
                or "__dataclass_fields__" in base.__dict__
            ):
                found[candidate or base] = True
                break
            else:
                candidate = candidate or base
    if len(found) > 1:
        raise TypeError(f"too many data types for {name!r}: {set(found)!r}")
    return list(found)[0] if found else object


def value_repr(bases, kind):
    for chain in bases:
        for base in chain.__mro__:
            if base is object:
                continue
            if isinstance(base, enum.EnumType):
                return base._value_repr_
            if "__repr__" in base.__dict__ or base in plain_types:
                return base.__repr__
    return None


def check_bases(name, bases):
    for base in bases:
        if isinstance(base, enum.EnumType) and base._member_map_:
            raise TypeError(f"<enum {name!r}> cannot extend {base!r}")
    if bases and not isinstance(bases[-1], enum.EnumType):
        raise TypeError("new enumerations should be created as `EnumName([mixin_type, ...] [data_type,] enum_type)`")


def wanted_members(name, namespace):
    ignored = namespace.get("_ignore_", ())
    if isinstance(ignored, str):
        ignored = ignored.replace(",", " ").split()
    ignored = list(ignored)
    if "_ignore_" in ignored:
        raise ValueError(f"_ignore_ cannot specify already set names: {set(ignored)!r}")
    whole, wanted = namespace.get("__qualname__", name), []
    for key, value in namespace.items():
        if key not in ignored and is_member(name, key, value, whole):
            wanted.append((key, value.value if isinstance(value, enum.member) else value))
    bad = {key for key, value in wanted if key in ("mro", "")}
    if bad:
        raise ValueError(f"invalid enum member name(s) {','.join([repr(each) for each in sorted(bad)])}")
    return wanted, ignored
