"""The order in which containers drop what they hold."""
import collections

import torch


def fill(q):
    for i in range(4): q.append(torch.zeros(2 ** (7 + i), device="cuda"))
    return q

b = fill(collections.deque()); b.clear()
b = fill(collections.deque()); b.rotate(2); b.clear()
d = fill([]); d.clear()
e = fill([]); del e
f = dict(enumerate(fill([]))); f.clear()
g = dict(enumerate(fill([]))); del g
h = tuple(fill([])); del h
i = collections.OrderedDict(enumerate(fill([]))); del i
k = collections.defaultdict(list); fill(k[0]); fill(k[1]); del k
