import torch
from torch import fx, nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(64, 64), nn.ReLU(inplace=True), nn.Linear(64, 64))
        self.scale = nn.Parameter(torch.ones(64))
        self.register_buffer("shift", torch.ones(64))

    def forward(self, x, y=2, *, z=None):
        unused = self.inner[0](x)
        out = self.inner(x)
        out += x
        first, second = (out * self.scale + self.shift).chunk(2, dim=1)
        rows = first.shape[0]
        flat = nn.functional.gelu(first).view(rows, -1)
        return {"sum": -flat.clamp(min=0.0)[:, :8] / y, "pair": (second, [2 * flat, flat @ flat.t()])}


block = Block()
graph = fx.Tracer().trace(block)
for node in graph.nodes:
    target = node.target if isinstance(node.target, str) else node.target.__name__
    print(node.op, node.name, target, node.args, node.kwargs, [str(user) for user in node.users])
module = fx.GraphModule(block, graph).cuda()
print(graph.eliminate_dead_code(), len(graph.nodes))
module.recompile()
optimizer = torch.optim.SGD(module.parameters(), lr=0.1, momentum=0.9)
for _ in range(2):
    out = module(torch.randn(32, 64, device="cuda"))
    loss = out["sum"].sum() + out["pair"][0].sum() + out["pair"][1][1].mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
for node in graph.nodes:
    if node.op == "call_function" and node.target is nn.functional.gelu:
        with graph.inserting_after(node):
            added = graph.call_function(torch.relu, (node.args[0],))
        node.replace_all_uses_with(added)
        graph.erase_node(node)
module.recompile()
print([str(node) for node in graph.nodes][6:10], module(torch.ones(2, 64, device="cuda"))["sum"].shape)
try:
    fx.symbolic_trace(lambda x: x if x > 0 else -x)
except fx.proxy.TraceError as error:
    print(error)
