import _tidemark
from httpx2 import (
    Client, CloseError, ConnectError, ConnectTimeout, DecodingError, HTTPError, HTTPStatusError, InvalidURL,
    LocalProtocolError, NetworkError, PoolTimeout, ProtocolError, ProxyError, ReadError, ReadTimeout,
    RemoteProtocolError, Request, RequestError, Response, TimeoutException, TooManyRedirects, TransportError,
    UnsupportedProtocol, WriteError, WriteTimeout, delete, get, head, options, patch, post, put, request, stream,
)


def __getattr__(name):
    return _tidemark.later("httpx." + name)
