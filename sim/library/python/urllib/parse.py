from typing import NamedTuple


@property
def _hostname(self):
    return self.netloc.rpartition("@")[2].partition(":")[0].lower() or None


@property
def _port(self):
    port = self.netloc.rpartition("@")[2].partition(":")[2]
    return int(port) if port else None


class SplitResult(NamedTuple):
    scheme: str
    netloc: str
    path: str
    query: str
    fragment: str

    def geturl(self):
        return urlunsplit(self)

    hostname, port = _hostname, _port


class ParseResult(NamedTuple):
    scheme: str
    netloc: str
    path: str
    params: str
    query: str
    fragment: str

    def geturl(self):
        return urlunparse(self)

    hostname, port = _hostname, _port


def urlsplit(url, scheme="", allow_fragments=True):
    head, colon, rest = url.partition(":")
    if colon and head and all([c.isalnum() or c in "+-." for c in head]) and head[0].isalpha():
        scheme, url = head.lower(), rest
    netloc = query = fragment = ""
    if url.startswith("//"):
        end = min([i for i in [url.find(c, 2) for c in "/?#"] if i >= 0] or [len(url)])
        netloc, url = url[2:end], url[end:]
    if allow_fragments:
        url, _, fragment = url.partition("#")
    url, _, query = url.partition("?")
    return SplitResult(scheme, netloc, url, query, fragment)


def urlparse(url, scheme="", allow_fragments=True):
    scheme, netloc, path, query, fragment = urlsplit(url, scheme, allow_fragments)
    path, _, params = path.partition(";")
    return ParseResult(scheme, netloc, path, params, query, fragment)


def urlunsplit(components):
    scheme, netloc, path, query, fragment = components
    out = ("//" + netloc if netloc else "") + path
    out = (scheme + ":" if scheme else "") + out
    return out + ("?" + query if query else "") + ("#" + fragment if fragment else "")


def urlunparse(components):
    scheme, netloc, path, params, query, fragment = components
    return urlunsplit((scheme, netloc, path + (";" + params if params else ""), query, fragment))


def urljoin(base, url, allow_fragments=True):
    if not base or urlsplit(url).scheme:
        return url or base
    scheme, netloc, path, query, fragment = urlsplit(base)
    if url.startswith("/"):
        return urlunsplit((scheme, netloc, url, "", ""))
    return urlunsplit((scheme, netloc, path.rpartition("/")[0] + "/" + url, "", ""))


def quote(string, safe="/", encoding=None, errors=None):
    return "".join([c if c.isalnum() or c in "_.-~" + safe else f"%{ord(c):02X}" for c in string])


def quote_plus(string, safe="", encoding=None, errors=None):
    return quote(string, safe + " ").replace(" ", "+")


def unquote(string, encoding="utf-8", errors="replace"):
    parts = string.split("%")
    return parts[0] + "".join([chr(int(part[:2], 16)) + part[2:] for part in parts[1:]])


def urlencode(query, doseq=False):
    items = query.items() if hasattr(query, "items") else query
    return "&".join([quote_plus(str(k)) + "=" + quote_plus(str(v)) for k, v in items])


def parse_qsl(qs, keep_blank_values=False, strict_parsing=False, **options):
    out = []
    for part in qs.replace(";", "&").split("&"):
        name, equals, value = part.partition("=")
        if name and (value or (keep_blank_values and equals)):
            out.append((unquote(name.replace("+", " ")), unquote(value.replace("+", " "))))
    return out


def parse_qs(qs, keep_blank_values=False, strict_parsing=False, **options):
    out = {}
    for name, value in parse_qsl(qs, keep_blank_values):
        out.setdefault(name, []).append(value)
    return out
