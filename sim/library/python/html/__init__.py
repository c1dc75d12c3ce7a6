_ESCAPES = (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"))
_QUOTES = (('"', "&quot;"), ("'", "&#x27;"))


def escape(s, quote=True):
    for plain, escaped in _ESCAPES + (_QUOTES if quote else ()):
        s = s.replace(plain, escaped)
    return s


def unescape(s):
    for plain, escaped in (*_QUOTES, ("'", "&#39;"), *_ESCAPES[::-1]):
        s = s.replace(escaped, plain)
    return s
