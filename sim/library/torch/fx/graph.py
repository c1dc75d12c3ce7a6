import builtins
import keyword
import re

import _tidemark
from torch.fx import _printing
from torch.fx.node import Node, map_arg


class _Namespace:
    def __init__(self):
        self._used, self._counts = {}, {}

    def create_name(self, candidate, obj):
        candidate = re.sub("[^0-9a-zA-Z_]+", "_", candidate) or "_unnamed"
        if candidate[0].isdigit():
            candidate = "_" + candidate
        match = re.match(r"(.*)_(\d+)$", candidate)
        base, number = (candidate, 0) if match is None else (match.group(1), int(match.group(2)))
        number = number or self._counts.get(base, 0)
        while candidate in self._used or self._is_illegal(candidate, obj):
            number += 1
            candidate = f"{base}_{number}"
        self._used[candidate] = True
        self._counts[base] = number
        return candidate

    @staticmethod
    def _is_illegal(name, obj):
        if keyword.iskeyword(name):
            return True
        return hasattr(builtins, name) and getattr(builtins, name) is not obj or name in ("inf", "nan", "NoneType")


class _NodeList:
    def __init__(self, nodes):
        self._nodes = nodes

    def __iter__(self):
        return iter(list(self._nodes))

    def __reversed__(self):
        return reversed(list(self._nodes))

    def __len__(self):
        return len(self._nodes)


class _Inserting:
    def __init__(self, graph, place):
        self._graph, self._before = graph, graph._place
        graph._place = place

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._graph._place = self._before


class Graph:
    def __init__(self, owning_module=None, tracer_cls=None, tracer_extras=None):
        self._nodes, self._names, self._place = [], _Namespace(), None
        self.owning_module, self._tracer_cls = owning_module, tracer_cls

    @property
    def nodes(self):
        return _NodeList(self._nodes)

    def find_nodes(self, *, op, target=None, sort=True):
        return [n for n in self._nodes if n.op == op and (target is None or n.target == target)]

    def _beside(self, node, step):
        at = self._nodes.index(node) + step
        return self._nodes[at] if 0 <= at < len(self._nodes) else None

    def _move(self, node, beside, step):
        if node in self._nodes:
            self._nodes.remove(node)
        self._nodes.insert(self._nodes.index(beside) + step, node)

    def create_node(self, op, target, args=None, kwargs=None, name=None, type_expr=None):
        candidate = name if name is not None else self._target_to_str(target)
        made = Node(self, self._names.create_name(candidate, None), op, target, args or (), kwargs or {}, type_expr)
        if self._place is None:
            self._nodes.append(made)
            return made
        node, step = self._place
        self._nodes.insert(self._nodes.index(node) + step, made)
        if step == 1:
            self._place = (made, 1)
        return made

    @staticmethod
    def _target_to_str(target):
        if callable(target):
            name = target.__name__
        else:
            name = target[2:-2] if target.startswith("__") and target.endswith("__") else target
        return re.sub(r"(?<=[a-z])([A-Z])", lambda m: "_" + m.group(1), name).lower()

    def inserting_before(self, n=None):
        return _Inserting(self, (n, 0) if n is not None else (self._nodes[0], 0))

    def inserting_after(self, n=None):
        return _Inserting(self, (n, 1) if n is not None else None)

    def placeholder(self, name, type_expr=None, default_value=...):
        args = () if default_value is ... else (default_value,)
        return self.create_node("placeholder", name, args, type_expr=type_expr)

    def get_attr(self, qualified_name, type_expr=None):
        return self.create_node("get_attr", qualified_name, type_expr=type_expr)

    def call_module(self, module_name, args=None, kwargs=None, type_expr=None):
        return self.create_node("call_module", module_name, args, kwargs, type_expr=type_expr)

    def call_method(self, method_name, args=None, kwargs=None, type_expr=None):
        return self.create_node("call_method", method_name, args, kwargs, type_expr=type_expr)

    def call_function(self, the_function, args=None, kwargs=None, type_expr=None, name=None):
        return self.create_node("call_function", the_function, args, kwargs, name, type_expr)

    def output(self, result, type_expr=None):
        return self.create_node("output", "output", (result,), type_expr=type_expr)

    def erase_node(self, to_erase):
        if to_erase.users:
            raise RuntimeError(
                f"Tried to erase Node {to_erase} but it still had {len(to_erase.users)} "
                f"users in the graph: {to_erase.users}!"
            )
        self._nodes.remove(to_erase)
        to_erase._take((), {})

    def eliminate_dead_code(self, is_impure_node=None):
        changed = False
        for node in reversed(self.nodes):
            is_impure = node.is_impure() if is_impure_node is None else is_impure_node(node)
            if not is_impure and not node.users:
                self.erase_node(node)
                changed = True
        return changed

    def lint(self):
        _printing.check(self)

    def node_copy(self, node, arg_transform=lambda x: x):
        args, kwargs = map_arg(node.args, arg_transform), map_arg(node.kwargs, arg_transform)
        made = self.create_node(node.op, node.target, args, kwargs, node.name, node.type)
        made.meta = dict(node.meta)
        return made

    def graph_copy(self, g, val_map, return_output_node=False):
        """what the copied graph returns, in the nodes of this one"""
        for node in g.nodes:
            if node in val_map:
                continue
            if node.op == "output":
                made = map_arg(node.args[0], lambda n: val_map[n])
                return (made, node) if return_output_node else made
            val_map[node] = self.node_copy(node, lambda n: val_map[n])
        return None

    def output_node(self):
        return self._nodes[-1]

    def python_code(self, root_module, **options):
        return _printing.Code(self, root_module)

    def __str__(self):
        lines = [node.format_node() for node in self._nodes]
        return "\n    ".join(["graph():", *lines])

    def print_tabular(self):
        try:
            from tabulate import tabulate
        except ImportError:
            print(
                "`print_tabular` relies on the library `tabulate`, "
                "which could not be found on this machine. Run `pip "
                "install tabulate` to install the library."
            )
            raise
        rows = [[n.op, n.name, n.target, n.args, n.kwargs] for n in self._nodes]
        print(tabulate(rows, headers=["opcode", "name", "target", "args", "kwargs"]))

    def on_generate_code(self, make_transformer):
        return _tidemark.later("torch.fx.Graph.on_generate_code")(make_transformer)

    def _last_uses(self):
        """by node what is not used after it"""
        last, by_user = {}, {}

        def register(node, user):
            if node not in last:
                last[node] = user
                by_user.setdefault(user, []).append(node)

        for node in reversed(self._nodes):
            map_arg((node.args, node.kwargs), lambda n: register(n, node))
        for node in self._nodes:
            if not node.users and node.op not in ("placeholder", "output"):
                by_user.setdefault(node, []).append(node)
        return by_user
