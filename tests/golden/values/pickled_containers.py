"""Pickled containers keep what they hold."""
import pickle, copy
from collections import deque, defaultdict
import functools
d = deque([1, 2, 3], 5)
e = pickle.loads(pickle.dumps(d)); print(e, e.maxlen)
f = defaultdict(int, {1: 2}); g = pickle.loads(pickle.dumps(f)); print(g, g.default_factory)
p = functools.partial(int, base=2); q = pickle.loads(pickle.dumps(p)); print(q("11"))
print(copy.deepcopy(d), copy.copy(f))
