def _down(heap, start, pos):
    item = heap[pos]
    while pos > start and item < heap[(pos - 1) >> 1]:
        heap[pos] = heap[(pos - 1) >> 1]
        pos = (pos - 1) >> 1
    heap[pos] = item


def _up(heap, pos):
    start, end, item = pos, len(heap), heap[pos]
    child = 2 * pos + 1
    while child < end:
        if child + 1 < end and not heap[child] < heap[child + 1]:
            child += 1
        heap[pos] = heap[child]
        pos = child
        child = 2 * pos + 1
    heap[pos] = item
    _down(heap, start, pos)


def heappush(heap, item):
    heap.append(item)
    _down(heap, 0, len(heap) - 1)


def heappop(heap):
    last = heap.pop()
    if not heap:
        return last
    first = heap[0]
    heap[0] = last
    _up(heap, 0)
    return first


def heapify(x):
    for i in reversed(range(len(x) // 2)):
        _up(x, i)


def heappushpop(heap, item):
    if heap and heap[0] < item:
        item, heap[0] = heap[0], item
        _up(heap, 0)
    return item


def heapreplace(heap, item):
    first = heap[0]
    heap[0] = item
    _up(heap, 0)
    return first


def nlargest(n, iterable, key=None):
    return sorted(iterable, key=key, reverse=True)[:n]


def nsmallest(n, iterable, key=None):
    return sorted(iterable, key=key)[:n]


def merge(*iterables, key=None, reverse=False):
    heads = []
    for place, iterable in enumerate(iterables):
        items = iter(iterable)
        for first in items:
            heads.append((first, place, items))
            break
    while heads:
        of = (lambda head: head[0]) if key is None else (lambda head: key(head[0]))
        best = max(heads, key=of) if reverse else min(heads, key=of)
        yield best[0]
        at = heads.index(best)
        for following in best[2]:
            heads[at] = (following, best[1], best[2])
            break
        else:
            del heads[at]


def _down_max(heap, start, pos):
    item = heap[pos]
    while pos > start and heap[(pos - 1) >> 1] < item:
        heap[pos] = heap[(pos - 1) >> 1]
        pos = (pos - 1) >> 1
    heap[pos] = item


def _up_max(heap, pos):
    start, end, item = pos, len(heap), heap[pos]
    child = 2 * pos + 1
    while child < end:
        if child + 1 < end and not heap[child + 1] < heap[child]:
            child += 1
        heap[pos] = heap[child]
        pos = child
        child = 2 * pos + 1
    heap[pos] = item
    _down_max(heap, start, pos)


def _heapify_max(x):
    for i in reversed(range(len(x) // 2)):
        _up_max(x, i)


def _heappop_max(heap):
    last = heap.pop()
    if not heap:
        return last
    first, heap[0] = heap[0], last
    _up_max(heap, 0)
    return first


def _heapreplace_max(heap, item):
    first, heap[0] = heap[0], item
    _up_max(heap, 0)
    return first
