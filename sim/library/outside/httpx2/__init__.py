"""Requests over a network, of which a run has none: each ends as it does where names are not resolved."""
import _tidemark


class HTTPError(Exception):
    def __init__(self, message, *, request=None, response=None):
        super().__init__(message)
        self._request, self.response = request, response

    @property
    def request(self):
        if self._request is None:
            raise RuntimeError("The .request property has not been set.")
        return self._request


class HTTPStatusError(HTTPError):
    pass


class RequestError(HTTPError):
    pass


class TransportError(RequestError):
    pass


class TimeoutException(TransportError):
    pass


class ConnectTimeout(TimeoutException):
    pass


class ReadTimeout(TimeoutException):
    pass


class WriteTimeout(TimeoutException):
    pass


class PoolTimeout(TimeoutException):
    pass


class NetworkError(TransportError):
    pass


class ConnectError(NetworkError):
    pass


class ReadError(NetworkError):
    pass


class WriteError(NetworkError):
    pass


class CloseError(NetworkError):
    pass


class ProxyError(TransportError):
    pass


class UnsupportedProtocol(TransportError):
    pass


class ProtocolError(TransportError):
    pass


class RemoteProtocolError(ProtocolError):
    pass


class LocalProtocolError(ProtocolError):
    pass


class DecodingError(RequestError):
    pass


class TooManyRedirects(RequestError):
    pass


class InvalidURL(Exception):
    pass


class Request:
    def __init__(self, method, url, **options):
        self.method, self.url, self.headers, self.options = method, url, dict(options.get("headers") or {}), options


class Response:
    """what is known without a network"""

    status_code, is_success, is_error = 200, True, False

    def __init__(self, request, content):
        self.request, self.url, self._content, self.headers = request, request.url, content, {}

    def json(self):
        return self._content

    def raise_for_status(self):
        return self


def request(method, url, **options):
    place, found = str(url).partition("://huggingface.co/")[2], None
    if place:
        from _known_hub import described

        about = place.removeprefix("api/models/")
        found = described(about.partition("/resolve/")[0].partition("/revision/")[0])
        if found is not None and method == "GET" and about != place:
            return Response(Request(method, url, **options), found)
    if found is None:
        _tidemark.note(f"no network: {method} {url} is not asked for")
    raise ConnectError("[Errno -3] Temporary failure in name resolution", request=Request(method, url))


class Client:
    def __init__(self, **options):
        self.options, self.headers, self.is_closed = options, dict(options.get("headers") or {}), False

    def build_request(self, method, url, **options):
        return Request(method, url, **options)

    def request(self, method, url, **options):
        return request(method, url, **options)

    stream = request

    def send(self, request, **options):
        return self.request(request.method, request.url)

    def close(self):
        self.is_closed = True

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()


def _of(method):
    def send(url, **options):
        return request(method, url, **options)

    return send


def _method_of(method):
    def send(self, url, **options):
        return self.request(method, url, **options)

    return send


get, head, post, put = _of("GET"), _of("HEAD"), _of("POST"), _of("PUT")
patch, delete, options, stream = _of("PATCH"), _of("DELETE"), _of("OPTIONS"), request
for _name in ("get", "head", "post", "put", "patch", "delete", "options"):
    setattr(Client, _name, _method_of(_name.upper()))


def __getattr__(name):
    return _tidemark.later("httpx2." + name)
