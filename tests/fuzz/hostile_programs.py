#!/usr/bin/env python3
"""Programs that mean harm: drawn from lists of them with a fixed seed, each run as a whole. Each ends in an answer or a message, in bounded time.

    hostile_programs.py TIDEMARK [--seed N] [--count N] [--show K]

Kinds: special methods that change the container at work, in every method of every container and every function of every module; methods and
descriptors of every class with arguments that are none of theirs; containers changed by the loop or call that goes through them; nesting without end;
sizes about 2^31 and 2^62. A finding is an exit code other than 0 and 2, or more than
LIMIT seconds of a processor. --show prints a program instead.
"""
import argparse
import concurrent.futures
import itertools
import pathlib
import random
import subprocess
import sys
import tempfile

LIMIT = 15  # of which --max-seconds gives model code 2
WAIT = 300  # on the clock: a machine may have other things to do

# What is worked on. E is the class with special methods; c is read anew by what changes it.
CONTAINERS = [
    "[E(), 1, E(), 'x', E()]", "[[E()], [1], (E(), 2)]", "[]", "list(range(40))", "{E(): 1, 'a': E(), 2: [E()]}", "{i: E() for i in range(20)}",
    "{E(), 1, 'x'}", "frozenset([E(), 1])", "(E(), 1, (E(), 2))", "collections.deque([E(), 1, E(), 2])", "collections.deque([E(), 1], 2)",
    "collections.OrderedDict([('a', E()), (E(), 2)])", "collections.defaultdict(E, {1: E()})", "collections.Counter([1, 2, E(), 1])",
    "collections.ChainMap({1: E()}, {E(): 2})", "L([E(), 1, E()])", "D({E(): 1, 'k': 2})", "P(E(), 2)", "range(1, 9, 2)", "iter([E(), 1, E()])",
    "zip([E(), 1], [2, E()])", "map(str, [E(), 1])", "'text'", "b'bytes'", "bytearray(b'bytes')", "E()", "torch.ones(2, 3, device='cuda')",
    "torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())", "torch.nn.ModuleList([torch.nn.Linear(2, 2)] * 3)",
    "torch.nn.ModuleDict({'a': torch.nn.ReLU()})", "torch.nn.ParameterList([torch.nn.Parameter(torch.ones(2))])",
    "torch.optim.SGD([torch.nn.Parameter(torch.ones(2))], lr=0.1)", "torch.Size([2, 3])", "memoryview(b'bytes')"]
CHANGES = [
    "c.clear()", "c.append(E())", "c.pop()", "c.popitem()", "c.popleft()", "del c[:]", "del c[0]", "c[:] = [E()]", "c.extend([E()] * 60)", "c.insert(0, E())",
    "c.reverse()", "c.sort()", "c.update({i: i for i in range(40)})", "c.add(calls)", "c[E()] = 3", "c = None", "c *= 0", "next(c)", "gc.collect()",
    "E.__index__ = E.__len__", "E.__eq__ = None", "del E.__hash__", "c.__init__([E()])", "c.__class__ = E", "c.__dict__.clear()", "raise ValueError(E())",
    "raise StopIteration", "c.resize_(0)", "c.grad = c", "E.__call__ = E()"]
# Special methods, and what they return where they behave.
SPECIALS = {
    "__eq__": "True", "__ne__": "False", "__lt__": "True", "__gt__": "False", "__le__": "True", "__ge__": "True", "__hash__": "1", "__index__": "1",
    "__int__": "2", "__float__": "0.5", "__bool__": "True", "__len__": "2", "__iter__": "iter([1, 2])", "__next__": "1", "__contains__": "True",
    "__getitem__": "1", "__setitem__": "None", "__delitem__": "None", "__call__": "1", "__repr__": "'E()'", "__str__": "'e'", "__format__": "'e'",
    "__add__": "1", "__radd__": "1", "__iadd__": "self", "__mul__": "1", "__rmul__": "1", "__sub__": "1", "__mod__": "1", "__or__": "1", "__and__": "1",
    "__neg__": "1", "__abs__": "1", "__round__": "1", "__enter__": "1", "__exit__": "True", "__getattr__": "1", "__setattr__": "None", "__copy__": "self",
    "__deepcopy__": "self", "__reversed__": "iter([1])", "__instancecheck__": "True", "__subclasscheck__": "True", "__missing__": "1", "__del__": "None",
    "keys": "['a']", "__length_hint__": "2 ** 62", "__getattribute__": "1", "__pow__": "1", "__matmul__": "1", "__divmod__": "1", "__bytes__": "b'e'"}
ARGUMENTS = ["()", "(E(),)", "(E(), E())", "(0, E())", "([E(), 1],)", "({'a': E()},)", "(c,)", "(c, E())", "(E(), c, E())", "('a', E())"]
MODULES = ["builtins", "math", "operator", "itertools", "functools", "heapq", "bisect", "copy", "json", "re", "collections", "statistics", "string",
           "textwrap", "random", "struct", "torch", "torch.nn.functional", "torch.nn", "torch.autograd", "torch.utils.data", "torch.linalg",
           "torch._C", "_tidemark", "numpy", "dataclasses", "contextlib", "enum", "types", "inspect", "weakref", "torch.nn.utils", "torch.utils.checkpoint"]
# Names that end a program, wait for the user, or read files: what they do is another test's.
LEFT_OUT = "('exit', 'quit', 'input', 'breakpoint', 'help', 'open', 'load', 'license', 'credits', 'copyright')"

CALLBACK = """import collections, gc, importlib, torch
P = collections.namedtuple('P', 'a b')
calls = 0
class E:
    def {special}(self, *args):
        global c, calls
        calls += 1
        if calls > 60: raise StopIteration
        if calls % {every} == 0:
            try: {change}
            except AttributeError: pass
        return {result}
class L(list, E): pass
class D(dict, E): pass
def each(holder, name, arguments):
    global c, calls
    calls = 0
    try:
        result = getattr(holder(), name)(*arguments())
        for _, item in zip(range(9), result): repr(item)
    except Exception as error:
        kept = error
"""
METHODS = """makers = [lambda: {first}, lambda: {second}]
for maker in makers:
    def holder():
        global c
        c = maker()
        return c
    try: names = dir(maker())
    except Exception: names = dir(list)
    for name in names:
        if name in {left_out}: continue
        each(holder, name, lambda: {arguments})
"""
FUNCTIONS = """module = importlib.import_module('{module}')
c = None
def arguments():
    global c
    c = {first}
    return {arguments}
for name in dir(module):
    if name in {left_out}: continue
    each(lambda: module, name, arguments)
"""

# What is called with self and arguments of other types, as x.f and as type(x).f.__get__. Some are refused as not modelled, which ends the program:
# each begins elsewhere.
CLASSES = [
    "torch.Tensor", "torch.nn.Parameter", "torch.nn.Module", "torch.nn.Linear", "torch.nn.ModuleList", "torch.device", "torch.dtype", "torch.Size",
    "torch.Generator", "torch._C.CheckpointFrame", "torch._C.Accumulator", "torch.cuda.Stream", "torch.cuda.Event", "torch.autograd.Function",
    "torch.optim.SGD", "list", "dict", "set", "frozenset", "tuple", "str", "bytes", "bytearray", "memoryview", "int", "float", "bool", "complex", "range",
    "slice", "property", "classmethod", "staticmethod", "super", "object", "type", "Exception", "BaseException", "StopIteration", "KeyError", "OSError",
    "collections.deque", "collections.OrderedDict", "collections.defaultdict", "collections.Counter", "enumerate", "zip", "map", "filter", "reversed",
    "type(iter([]))", "type(gen())", "type(gen)", "type(len)", "type(collections)", "type({}.items())", "type({}.keys())", "type(Z.__dict__)",
    "type([].append)", "type(None)", "type(...)", "type(NotImplemented)", "type(re.compile('a'))", "type(re.match('a', 'a'))", "weakref.ref",
    "types.SimpleNamespace", "random.Random", "functools.partial", "itertools.chain", "types.MethodType", "types.CodeType", "type(x.sum().grad_fn)",
    "collections.namedtuple('P', 'a b')", "torch.utils.hooks.RemovableHandle", "numpy.ndarray", "torch.memory_format"]
FOREIGN = ["()", "(5,)", "(5, 5)", "(Z(),)", "(Z(), 1, 2)", "(None, None)", "('a', 'b', 'c')", "(c,)", "(c, 1)", "(c, c)", "([], 1)", "(x, 5)", "(x, Z(), 1, 1)",
           "(x,)", "({}, x)", "(Z, 'a')", "(Z, ())", "([x], [1], [x], [x])", "(2 ** 62,) * 3", "(-1, -1)", "(99999, 99999)", "([1], [1])", "(lambda *a: a, x)"]
UNBOUND = """import collections, functools, itertools, numpy, random, re, torch, types, weakref
x = torch.ones(2, device='cuda', requires_grad=True)
class Z: pass
def gen(): yield 1
c = {first}
names = dir(c)
start = {start} % len(names)
for name in names[start:] + names[:start]:
    if name in {left_out}: continue
    for arguments in (lambda: {one}, lambda: {two}, lambda: {three}, lambda: {four}):
        for way in (lambda f: f, lambda f: f.__get__):
            try: way(getattr(c, name))(*arguments())
            except Exception as error: kept = error
"""

# Loops and calls through c, each with one of CHANGES in the middle.
PASSES = [
    "for x in c: @", "for x in c.items(): @", "for i, x in enumerate(c): @", "for x, y in zip(c, c): @", "for x in reversed(c): @", "[h(x) for x in c]",
    "{h(x): 1 for x in c}", "{h(x) for x in c}", "sum(h(x) for x in c)", "list(map(h, c))", "list(filter(h, c))", "sorted(c, key=h)", "c.sort(key=h)",
    "max(c, key=h)", "min(c, key=h)", "functools.reduce(h, c, 1)", "list(itertools.groupby(c, h))", "any(h(x) for x in c)", "c.extend(h(x) for x in c)",
    "c.update((h(x), 1) for x in c)", "c[:] = (h(x) for x in c)", "c[1:2] = map(h, c)", "c[::2] = map(h, c)", "a, *b = map(h, c)", "h(*map(h, c))",
    "dict.fromkeys(map(h, c), c)", "set(c).union(map(h, c))", "''.join(map(str, map(h, c)))", "heapq.heapify(c); heapq.merge(c, map(h, c))",
    "bisect.bisect(c, 1, key=h)", "collections.deque(map(h, c), 3)", "collections.Counter(map(h, c))", "copy.deepcopy(c, {1: h(1)})", "tuple(map(h, c))",
    "itertools.chain(*map(h, c))", "list(itertools.product(c, map(h, c)))", "c == [h(1), *map(h, c)]", "json.dumps(c, default=h)",
    "torch.stack([torch.ones(2), *map(h, c)])", "torch.cat(list(map(h, c)))", "torch.zeros(list(map(h, c)))", "torch.ones(2, 3).sum(tuple(map(h, c)))",
    "torch.optim.SGD(map(h, c), lr=0.1)", "torch.nn.Sequential(*map(h, c))", "torch.utils.data.DataLoader(c, collate_fn=h).__iter__().__next__()",
    "c.apply(h)", "c.register_forward_hook(h); c(torch.ones(2, 2))", "c.register_forward_pre_hook(h); c(torch.ones(2, 2))",
    "c.register_full_backward_hook(h); c(torch.ones(2, 2)).sum().backward()", "c.register_hook(h); (c * 2).sum().backward()",
    "torch.autograd.backward(list(map(h, c)), c)", "torch.autograd.grad(c.sum(), map(h, [c]))", "c.load_state_dict({k: h(v) for k, v in c.state_dict().items()})",
    "torch.utils.checkpoint.checkpoint(h, c, use_reentrant=True)", "torch.utils.checkpoint.checkpoint(h, c, use_reentrant=False)", "re.sub('.', h, 'abc')"]
PASSING = """import bisect, collections, copy, functools, gc, heapq, itertools, json, re, torch, torch.utils.checkpoint
calls = 0
P = collections.namedtuple('P', 'a b')
class E: pass
class L(list): pass
class D(dict): pass
def h(*args, **named):
    global c, calls
    calls += 1
    if calls > 200: raise StopIteration
    try: {change}
    except AttributeError: pass
    return {result}
for maker in (lambda: {first}, lambda: {second}, lambda: {third}):
    for start in (0, -3):
        calls = start
        try:
            c = maker()
            {statement}
        except Exception as error:
            kept = error
"""

# $n is a depth: so often the part between [ and ] is said, or so often the loop goes.
NESTINGS = [
    "x = ()\nfor i in range($n): x = (x,)\n@", "x = []\nfor i in range($n): x = [x]\n@", "x = {}\nfor i in range($n): x = {1: x}\n@",
    "x = iter([1])\nfor i in range($n): x = map(str, x)\n@", "x = iter([1])\nfor i in range($n): x = zip(x)\n@",
    "x = iter([1])\nfor i in range($n): x = filter(None, x)\n@", "x = iter([1])\nfor i in range($n): x = enumerate(x)\n@",
    "x = iter([1])\nfor i in range($n): x = itertools.chain(x)\n@", "x = iter([1])\nfor i in range($n): x = (y for y in x)\n@",
    "x = int\nfor i in range($n): x = functools.partial(x)\n@", "x = object\nfor i in range($n): x = type('T', (x,), {})\n@",
    "x = Exception()\nfor i in range($n):\n    y = Exception(x)\n    y.__cause__ = x\n    x = y\n@", "class A: pass\nx = A()\nA.__call__ = x\n@",
    "class A: pass\nx = A()\nA.__getattr__ = x\n@", "class A:\n    def __getattr__(self, name): return getattr(self, name + 'x')\nx = A()\n@",
    "class A:\n    def __repr__(self): return repr([self])\n    __hash__ = __len__ = __iter__ = __eq__ = __repr__\nx = A()\n@",
    "class A:\n    def __eq__(self, other): return self == other\n    def __hash__(self): return hash(self)\n    def __iter__(self): return iter(self)\nx = A()\n@",
    "class A:\n    def __init__(self): self.a = A()\nx = A\n@", "class A:\n    def __del__(self): A()\nx = A()\n@", "x = lambda *a: x(*a)\n@",
    "x = []\nx.append(x)\ny = []\ny.append(y)\n@", "x = {}\nx[1] = x\n@", "x = collections.deque()\nx.append(x)\n@",
    "x = torch.ones(1, device='cuda', requires_grad=True)\nfor i in range($n): x = x * 1\n@", "x = torch.nn.Sequential()\nfor i in range($n): x = torch.nn.Sequential(x)\n@",
    "x = torch.nn.Module()\nx.__dict__['_modules']['a'] = x\n@", "x = '(' * $n\n@", "x = '[' * $n + ']' * $n\n@", "x = 'a' * $n\n@",
    "x = weakref.ref\nfor i in range($n): x = classmethod(x)\n@", "x = property(lambda self: self.x)\nclass A: pass\nA.x = x\nx = A()\n@",
    "def x(f): return lambda *a: f(*a)\ny = int\nfor i in range($n): y = x(y)\nx = y\n@",
    "x = contextlib.ExitStack()\nfor i in range($n): x.callback(x.close)\n@", "x = range(3)\nfor i in range($n): x = x[::1]\n@",
    "x = types.SimpleNamespace()\nx.x = x\n@", "x = slice(1)\nfor i in range($n): x = slice(x)\n@", "x = memoryview(b'a')\nfor i in range($n): x = memoryview(x)\n@",
    "class M(type):\n    def __instancecheck__(cls, x): return isinstance(x, cls)\nclass x(metaclass=M): pass\n@",
    "class A(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x): return A.apply(x)\n    @staticmethod\n    def backward(ctx, g): return g\n"
    "x = A.apply\n@",
    "class A(torch.nn.Module):\n    def forward(self, x): return self(x)\nx = A()\n@"]
NESTED_USES = [
    "repr(x)", "x == copy.copy(x)", "hash(x)", "copy.deepcopy(x)", "json.dumps(x)", "list(x)", "isinstance(1, x)", "issubclass(int, x)", "x(1)", "x.attribute",
    "x.x", "del x", "sorted([x, x])", "len(x)", "eval(x)", "ast.literal_eval(x)", "json.loads(x)", "re.compile(x)", "x.sum().backward()", "print(x)", "raise x",
    "try: raise ValueError\nexcept x: pass", "x < x", "x in [x]", "str(x) + f'{x}'", "x.close()", "x.state_dict()", "list(x.modules())", "x.to('cuda')",
    "pickle.dumps(x)", "pprint.pformat(x)", "x(torch.ones(1))", "x.apply(repr)", "next(x)", "x == y", "y(*x)", "x[0]", "iter(x)", "bool(x)", "gc.collect()"]
NESTING_IMPORTS = "import ast, collections, contextlib, copy, functools, gc, itertools, json, pickle, pprint, re, torch, types, weakref\ny = 1\n"

# $n is a size.
SIZES = [
    "[0] * $n", "'a' * $n", "b'a' * $n", "(0,) * $n", "bytearray($n)", "bytes($n)", "list(range($n))", "sum(range($n))", "$n in range($n, 2, -1)",
    "range(-$n, $n, $n)[$n // 2]", "range($n)[::$n][-1]", "len(range(-$n, $n))", "'x'.zfill($n)", "'x'.ljust($n)", "'x'.center($n)", "format(1, '$n')",
    "'%$nd' % 1", "'%*d' % ($n, 1)", "f'{1:{$n}}'", "f'{0.5:.{$n}f}'", "'{:$n}'.format('a')", "1 << $n", "10 ** $n", "2 ** -$n", "pow(3, $n, $n)",
    "math.factorial($n)", "math.comb($n, $n // 2)", "math.perm($n, 9)", "math.isqrt($n)", "math.gcd($n, -$n)", "int('9' * 100000)", "str(9 ** 99999)",
    "list(itertools.repeat(1, $n))", "list(itertools.combinations(range(60), 30))", "list(itertools.permutations(range(20)))",
    "list(itertools.product([1, 2], repeat=$n))", "next(itertools.islice([1, 2], $n, None))", "collections.deque([1, 2], $n)",
    "collections.deque([1, 2, 3]).rotate($n)", "collections.Counter(a=$n).elements().__next__()", "list(collections.Counter(a=$n).elements())",
    "random.choices([1, 2], k=$n)", "random.sample(range($n), 3)", "random.randrange(-$n, $n)", "random.getrandbits($n)", "($n).to_bytes($n, 'big')",
    "(-$n).bit_length()", "'a'.expandtabs($n)", "'\\t'.expandtabs($n)", "'a,b'.split(',', $n)", "'ab'.replace('', 'x' * 1000000, $n)", "'abc'[$n:-$n:$n]",
    "[1, 2][$n:-$n:-$n]", "[1].insert($n, 2)", "[1].pop($n)", "[1, 2].index(2, -$n, $n)", "x = [1]; x[$n:] = [2]", "x = []; x[::$n] = []", "round($n, -$n)",
    "round(0.5, $n)", "divmod(-$n, -1)", "-$n // -1", "-$n % -1", "chr($n)", "hash($n)", "float($n)", "int(1e308) * $n", "slice($n, -$n, -$n).indices($n)",
    "enumerate([1], $n).__next__()", "re.compile('a{$n}')", "re.match('(a+)+$', 'a' * 40)", "re.match('(a|a)*b', 'a' * 60)", "re.sub('', 'x' * 1000, 'a' * 10000)",
    "re.split('', 'a' * 100000, $n)", "struct.pack('$nx')", "struct.calcsize('$nq')", "textwrap.wrap('a' * 100000, 1)", "datetime.timedelta(days=$n)",
    "datetime.datetime.fromtimestamp($n)", "time.sleep($n)", "'a'.encode().hex().rjust($n)", "json.dumps([1], indent=$n)", "json.loads('[' * 100000)",
    "json.loads('9' * 100000)", "fractions.Fraction($n, 3) ** $n", "statistics.mean(range($n))", "heapq.nlargest($n, [1])", "threading.Semaphore($n).acquire()",
    "string.ascii_letters * $n", "sys.setrecursionlimit($n) or (lambda f: f(f))(lambda f: f(f))", "array = [[]] * 100000; array == [[]] * $n", "while True: pass",
    "x = [1]\nfor y in x: x.append(y)", "x = 'a'\nwhile True: x += x", "x = 2\nwhile True: x *= x", "x = []\nwhile True: x = [x, x]", "x = {}\nwhile True: x[len(x)] = 1",
    "while True: torch.empty(1, device='cuda')", "x = []\nwhile True: x.append(torch.empty(1, device='cuda'))", "x = torch.ones(1, requires_grad=True)\nwhile True: x = x + 1"]
TENSOR_SIZES = [
    "x.expand($n, 2, 3).sum()", "x.repeat($n, 1)", "x.reshape($n, -1)", "x.view(-$n)", "x.narrow(0, $n, 1)", "x.narrow(0, 0, $n)", "x.unfold(0, $n, $n)",
    "x.as_strided(($n, $n), ($n, $n))", "x.as_strided((2,), (1,), $n)", "x.select(0, $n)", "x.unsqueeze($n)", "x.flatten($n)", "x.transpose($n, -$n)",
    "x.roll($n, 0)", "x.split($n)", "x.split([$n, -$n])", "x.chunk($n)", "x.tensor_split($n)", "x.tile(($n, $n))", "x.diagonal($n)", "x.triu($n)", "x.tril(-$n)",
    "x.sum($n)", "x.permute($n, 0)", "x.index_select(0, $n)", "x.gather($n, x)", "x.kthvalue($n)", "x.topk($n)", "x.cumsum($n)", "x[$n]", "x[:$n, ::$n]",
    "x[[$n]]", "x.resize_($n, $n)", "x.new_empty($n, $n)", "x.repeat_interleave($n)", "x.multinomial($n)", "x.bernoulli($n)", "x.quantile($n)",
    "torch.empty($n, device='cuda')", "torch.empty($n, $n, device='cuda')", "torch.empty(0, $n, $n, device='cuda')", "torch.empty(-$n, device='cuda')",
    "torch.arange($n, device='cuda')", "torch.arange(-$n, $n, $n, device='cuda')", "torch.arange(0, 1, 1 / $n)", "torch.linspace(0, 1, $n)", "torch.eye($n)",
    "torch.full(($n,), 1)", "torch.randint($n, (2,))", "torch.randperm($n)", "torch.tril_indices($n, $n)", "torch.combinations(x[0], $n)",
    "torch.cartesian_prod(*[x[0]] * 60)", "torch.meshgrid(*[x[0]] * 40)", "torch.stack([x] * 3, $n)", "torch.cat([x] * 3, $n)", "torch.bincount(x, minlength=$n)",
    "torch.vander(x[0], $n)", "torch.tensordot(x, x, $n)", "torch.einsum('ab,cd->' + 'abcd' * 20, x, x)", "torch.matrix_power(x, $n)", "torch.bartlett_window($n)",
    "F.pad(x, ($n, $n))", "F.pad(x, (-$n, 0))", "F.one_hot(x.long(), $n)", "F.interpolate(i, scale_factor=$n)", "F.interpolate(i, ($n, $n))",
    "F.pixel_shuffle(i, $n)", "F.pixel_unshuffle(i, $n)", "F.unfold(i, $n)", "F.fold(i, $n, 2)", "F.avg_pool2d(i, $n)", "F.max_pool2d(i, 2, stride=$n)",
    "F.max_pool2d(i, 2, padding=$n)", "F.max_pool2d(i, 2, dilation=$n)", "F.adaptive_avg_pool2d(i, $n)", "F.conv2d(i, w, padding=$n)", "F.conv2d(i, w, stride=$n)",
    "F.conv2d(i, w, dilation=$n)", "F.conv2d(i, w, groups=$n)", "F.conv_transpose2d(i, w, stride=$n)", "F.conv_transpose2d(i, w, output_padding=$n)",
    "F.embedding(x.long(), w, padding_idx=$n)", "F.layer_norm(x, ($n,))", "F.group_norm(i, $n)", "F.local_response_norm(i, $n)", "F.affine_grid(x[None], (1, 1, $n, $n))",
    "torch.nn.Linear($n, $n)", "torch.nn.Embedding($n, $n)", "torch.nn.Conv2d($n, $n, $n)", "torch.nn.LSTM($n, $n, 2)", "torch.nn.LSTM(3, 3, $n)",
    "torch.nn.MultiheadAttention($n, $n)", "torch.nn.Transformer(64, 4, $n)", "torch.nn.Upsample(scale_factor=$n)(i)", "torch.fft.fft(x, $n)", "torch.stft(x, $n)",
    "torch.cuda.set_per_process_memory_fraction($n)", "torch.cuda.caching_allocator_alloc($n)", "torch.utils.data.DataLoader(range($n), batch_size=$n).__iter__().__next__()",
    "torch.distributed.all_reduce(x, $n)", "torch.ones(2, device='cuda:$n')", "torch.zeros(2).to('cuda:$n')", "torch.Size([$n, $n]).numel()", "torch.iinfo(torch.int64).max + $n",
    "torch.tensor([$n, -$n])", "torch.tensor($n).item() + 1", "torch.Generator().manual_seed($n)", "torch.cuda.Stream(priority=$n)", "torch.cuda._sleep($n)"]
NUMBERS = ["2 ** 31 - 1", "2 ** 31", "2 ** 32", "2 ** 62", "2 ** 63 - 1", "2 ** 63", "2 ** 64", "-2 ** 62", "-2 ** 63", "2 ** 70"]
SIZE_IMPORTS = ("import ast, collections, datetime, fractions, heapq, itertools, json, math, random, re, statistics, string, struct, sys, textwrap, threading, time, torch\n"
                "F = torch.nn.functional\nx = torch.ones(2, 3, device='cuda', requires_grad=True)\ni = torch.ones(1, 4, 2, 2, device='cuda', requires_grad=True)\n"
                "w = torch.ones(4, 4, 1, 1, device='cuda', requires_grad=True)\n")


def indented(text):
    return text.replace("\n", "\n    ")


def callback(rng, what):
    special = rng.choice(sorted(SPECIALS))
    head = CALLBACK.format(special=special, result=SPECIALS[special], change=rng.choice(CHANGES), every=rng.randint(1, 3))
    return head + what.format(first=rng.choice(CONTAINERS), second=rng.choice(CONTAINERS), module=rng.choice(MODULES), arguments=rng.choice(ARGUMENTS),
                              left_out=LEFT_OUT)


def unbound(rng):
    one, two, three, four = rng.sample(FOREIGN, 4)
    first = rng.choice(CLASSES + [f"__import__('importlib').import_module('{module}')" for module in MODULES if module != "builtins"])
    return UNBOUND.format(first=first, start=rng.randint(0, 999), left_out=LEFT_OUT, one=one, two=two, three=three, four=four)


def passing(rng):
    statement = rng.choice(PASSES).replace("@", "h(1)")
    containers = rng.sample(CONTAINERS, 3)
    return PASSING.format(change=rng.choice(CHANGES), result=rng.choice(["1", "args and args[0]", "c", "E()", "None"]), statement=statement,
                          first=containers[0], second=containers[1], third=containers[2])


def nested(rng):
    use = "try:\n    " + indented(rng.choice(NESTED_USES)) + "\nexcept Exception as error: kept = error\nprint('ended')"
    return NESTING_IMPORTS + rng.choice(NESTINGS).replace("@", use).replace("$n", str(rng.choice([50, 900, 10000, 100000])))


def sized(rng, table):
    number = rng.choice(NUMBERS)
    pattern = rng.choice(table)
    # Within a text the number itself is meant; else an expression.
    told = str(eval(number))  # pylint: disable=eval-used
    statement = pattern.replace("$n", told)
    return SIZE_IMPORTS + "try:\n    " + indented(statement) + "\nexcept Exception as error: print(type(error).__name__)\n"


KINDS = [lambda rng: callback(rng, METHODS), lambda rng: callback(rng, FUNCTIONS), unbound, passing, nested, lambda rng: sized(rng, SIZES),
         lambda rng: sized(rng, TENSOR_SIZES)]


def programs(seed, count):
    for i, kind in zip(range(count), itertools.cycle(KINDS)):
        yield i, kind(random.Random(f"{seed} {i}"))


def outcome(tidemark, folder, number, text):
    """What is wrong with how a program ends, or nothing."""
    file = pathlib.Path(folder) / f"p{number}.py"
    file.write_text(text)
    command = ["/bin/sh", "-c", f'ulimit -t {LIMIT}; exec "$@"', "sh", tidemark, "--max-seconds", "2", "--max-memory", "512MiB", "run", str(file), "--device", "h100"]
    try:
        done = subprocess.run(command, capture_output=True, timeout=WAIT, check=False)
    except subprocess.TimeoutExpired:
        return f"more than {WAIT} s"
    if done.returncode not in (0, 2) or b"Sanitizer" in done.stderr or b"runtime error:" in done.stderr:
        return f"exit code {done.returncode}: " + done.stderr.decode(errors="replace")[-1500:]
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("tidemark")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=420)
    parser.add_argument("--show", type=int, metavar="K")
    args = parser.parse_args()
    if args.show is not None:
        print(dict(programs(args.seed, args.show + 1))[args.show])
        return 0
    tidemark = str(pathlib.Path(args.tidemark).resolve())
    findings = 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        running = [(i, pool.submit(outcome, tidemark, folder, i, text)) for i, text in programs(args.seed, args.count)]
        for number, future in running:
            wrong = future.result()
            if wrong:
                findings += 1
                print(f"program {number} of seed {args.seed} (--show {number}): {wrong}", flush=True)
    print(f"{args.count} programs, {findings} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
