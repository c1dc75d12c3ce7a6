import torch, torch.nn as nn, torch.fx as fx
import torch.nn.functional as F
import operator
def helper(a): return a
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(4,4))
        self.layers = nn.Sequential(nn.Linear(4,4), nn.ReLU())
        self.lin = nn.Linear(4,4)
    def forward(self, x: torch.Tensor, y=3, *, z=None):
        a = self.layers(x) @ self.w
        b = F.gelu(a) + y
        c = torch.relu(b).view(-1, 2)[0:1, None]
        c += 1
        d = torch.cat([c, c], dim=1).shape[0]
        e = self.lin(x).sum(dim=(0, 1)) * -x
        return {'a': e, 'b': (d, c.transpose(0, 1))}
m = fx.symbolic_trace(M())
print(m.code)
print(m.graph)
print(m)
for n in m.graph.nodes: print(n.format_node(), '|', n.op, n.target if isinstance(n.target, str) else n.target.__name__, n.args, n.kwargs)
m.graph.lint()
def f(x, y): return torch.relu(x) + torch.neg(y)
g = fx.symbolic_trace(f)
print(g.code)
def pattern(a, b): return a + b
def repl(a, b): return torch.sub(a, b)
print(fx.replace_pattern(g, pattern, repl))
print(g.code)
class I(fx.Interpreter):
    def call_function(self, target, args, kwargs):
        print('fn', target.__name__)
        return super().call_function(target, args, kwargs)
    def run_node(self, n):
        print('node', n.name)
        return super().run_node(n)
r = I(g).run(torch.ones(3), torch.ones(3))
print(r.shape)
class T(fx.Transformer):
    def call_function(self, target, args, kwargs):
        if target is torch.relu: return super().call_function(torch.sigmoid, args, kwargs)
        return super().call_function(target, args, kwargs)
t = T(g).transform()
print(t.code)
# decompose with GraphAppendingTracer
rules = {torch.sub: lambda a, b: a - b}
def decompose(model):
    graph = fx.Tracer().trace(model)
    new = fx.Graph(); env = {}
    tr = fx.proxy.GraphAppendingTracer(new)
    for node in graph.nodes:
        if node.op == 'call_function' and node.target in rules:
            pa = [fx.Proxy(env[x.name], tr) if isinstance(x, fx.Node) else x for x in node.args]
            out = rules[node.target](*pa)
            env[node.name] = out.node
        else:
            env[node.name] = new.node_copy(node, lambda x: env[x.name])
    return fx.GraphModule(model, new)
print(decompose(g).code)
new = fx.Graph()
vm = {}
out = new.graph_copy(g.graph, vm)
new.output(out)
print(new)
print(new.python_code('self').src)
for node in list(g.graph.nodes):
    if node.op == 'call_function' and node.target is torch.sub:
        with g.graph.inserting_after(node):
            k = g.graph.call_function(torch.mul, (node, 2))
            node.replace_all_uses_with(k)
            k.update_arg(0, node)
g.recompile()
print(g.code, len(g.graph.nodes))
sub = fx.GraphModule({'l': nn.Linear(2,2)}, fx.Graph())
print(sub)
g.add_submodule('q.r', nn.Linear(2,2)); print(g); g.delete_all_unused_submodules(); print(g)
from torch.fx.passes.shape_prop import ShapeProp
ShapeProp(g).propagate(torch.ones(2, 3), torch.ones(2, 3))
print([(n.name, tuple(n.meta["tensor_meta"].shape), n.meta["tensor_meta"].stride) for n in g.graph.nodes])
broken = fx.Graph()
first = broken.placeholder("x")
second = broken.call_function(torch.relu, (first,))
second.prepend(broken.call_function(torch.neg, (second,)))
broken.output(second)
try:
    broken.lint()
except RuntimeError as error:
    print(str(error).split("!")[0])


@fx.wrap
def scaled(x, by):
    return x * by if by else x


def uses_it(x):
    return scaled(torch.relu(x), 3) + scaled(2, 1)


print(fx.symbolic_trace(uses_it).code, scaled(2, 3))
lone = fx.Graph()
value = fx.Proxy(lone.placeholder("x"))
lone.output(torch.relu(value + 1).node)
print(lone)


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x):
        return (x + self.one(x)).relu() + self.two(x).relu()


r = fx.symbolic_trace(Residual())
found = fx.replace_pattern(r, lambda a: a.relu(), lambda a: a.clamp(min=0).sqrt())
print(len(found), r.code)
for node in r.graph.nodes:
    if node.op == "call_module" and node.target == "two":
        node.target = "one"
r.delete_all_unused_submodules()
r.graph.lint()
r.recompile()
print(r.code, [name for name, _ in r.named_children()])
