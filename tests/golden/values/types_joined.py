"""What `left | right` gives of classes, None, unions and typing's forms."""
import typing
from typing import List, Optional, TypeVar, Union


class A:
    pass


class B(A):
    pass


class Meta(type):
    def __eq__(cls, other):
        return isinstance(other, Meta)

    def __hash__(cls):
        return 1


class One(metaclass=Meta):
    pass


class Two(metaclass=Meta):
    pass


class Joins(type):
    def __or__(cls, other):
        return f"{cls.__name__} or {getattr(other, '__name__', other)}"

    def __ror__(cls, other):
        return f"{getattr(other, '__name__', other)} before {cls.__name__}"


class Own(metaclass=Joins):
    pass


T = TypeVar("T")
print(int | None, None | int, int | str, A | B, A | None, type(int | None).__name__, (int | None).__args__)
print(int | int, A | A, type(None) | None, None | type(None), int | bool)
print(One | Two, One | int, len((One | int).__args__), Own | int, int | Own, None | Own, Own | None)
print(int | str | None, None | int | str, (int | None) | (str | None), int | (str | int), (int | None) | None)
print((int | None) == (None | int), hash(int | str) == hash(str | int), int | None == Optional[int], int in (int | str).__args__)
print(isinstance(3, int | None), isinstance(None, int | None), isinstance("a", int | None), issubclass(B, A | int))
print(int | List[int], List[int] | None, Optional[int] | str, Union[int, str] | None, T | int, int | T, list[int] | None)
print(type(int | List[int]).__name__, type(int | list[int]).__name__, typing.get_args(int | None), typing.get_origin(A | None))
for left, right in ((None, None), (3, int), (int, 3), (A(), A)):
    try:
        print(left | right)
    except TypeError as error:
        print(str(error).replace("__main__.", ""))
kinds = {int | None: "a", A | B: "b"}
print(kinds[None | int], kinds[B | A], [kind for kind in (int | str | None).__args__])
