def _end(a, lo, hi):
    if lo < 0:
        raise ValueError("lo must be non-negative")
    return len(a) if hi is None else hi


def bisect_left(a, x, lo=0, hi=None, *, key=None):
    hi = _end(a, lo, hi)
    while lo < hi:
        mid = (lo + hi) // 2
        if (a[mid] if key is None else key(a[mid])) < x:
            lo = mid + 1
        else:
            hi = mid
    return lo


def bisect_right(a, x, lo=0, hi=None, *, key=None):
    hi = _end(a, lo, hi)
    while lo < hi:
        mid = (lo + hi) // 2
        if x < (a[mid] if key is None else key(a[mid])):
            hi = mid
        else:
            lo = mid + 1
    return lo


def insort_left(a, x, lo=0, hi=None, *, key=None):
    at = bisect_left(a, x if key is None else key(x), lo, hi, key=key)
    a.insert(at, x)


def insort_right(a, x, lo=0, hi=None, *, key=None):
    at = bisect_right(a, x if key is None else key(x), lo, hi, key=key)
    a.insert(at, x)


bisect, insort = bisect_right, insort_right
