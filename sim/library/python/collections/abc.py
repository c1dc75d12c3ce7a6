from typing import (
    AsyncGenerator, AsyncIterable, AsyncIterator, Awaitable, ByteString, Callable, Collection,
    Container, Coroutine, Generator, Hashable, ItemsView, Iterable, Iterator, KeysView, Mapping,
    MappingView, MutableMapping, MutableSequence, MutableSet, Reversible, Sequence, Set, Sized,
    ValuesView,
)
