import copy
import typing
from dataclasses import dataclass, field

import torch
from torch.fx._symbolic_trace import symbolic_trace
from torch.fx.graph import Graph
from torch.fx.graph_module import GraphModule
from torch.fx.node import Node


class Match(typing.NamedTuple):
    anchor: Node
    nodes_map: dict


@dataclass
class ReplacedPatterns:
    anchor: Node
    nodes_map: dict
    replacements: list


@dataclass
class InternalMatch:
    anchors: list
    nodes_map: dict = field(default_factory=dict)
    placeholder_nodes: list = field(default_factory=list)
    returning_nodes: list = field(default_factory=list)

    def __copy__(self):
        inputs, outputs = list(self.placeholder_nodes), list(self.returning_nodes)
        return InternalMatch(self.anchors, dict(self.nodes_map), inputs, outputs)


class SubgraphMatcher:
    """finds where a pattern's nodes stand in a graph, from what the pattern returns backward"""

    def __init__(
        self,
        pattern,
        match_output=False,
        match_placeholder=False,
        remove_overlapping_matches=True,
        ignore_literals=False,
    ):
        if len(pattern.nodes) == 0:
            raise ValueError("SubgraphMatcher cannot be initialized with an empty pattern")
        self.pattern, self.match_output, self.match_placeholder = pattern, match_output, match_placeholder
        self.remove_overlapping_matches, self.ignore_literals = remove_overlapping_matches, ignore_literals
        for node in pattern.nodes:
            if node.op != "output" and not node.is_impure() and not node.users:
                raise AssertionError("SubgraphMatcher cannot be initialized with an pattern with dead code")
        self.pattern_placeholder_nodes = [n for n in pattern.nodes if n.op == "placeholder"]
        output = next(iter(reversed(pattern.nodes)))
        self.pattern_returning_nodes = output.all_input_nodes
        sinks = [n for n in output.all_input_nodes if len(n.users) == 1]
        self.pattern_anchors = [output] if match_output else sinks

    def _are_alike(self, pn, gn, node_name_match=""):
        if not self.match_placeholder and pn.op == "placeholder":
            return True
        if node_name_match and node_name_match in gn.name:
            return True
        if pn.op != gn.op:
            return False
        if pn.op in ("placeholder", "output"):
            return True
        if pn.op == "get_attr":
            kinds = [type(_attribute_of(n.graph.owning_module, n.target)) for n in (pn, gn)]
            return kinds[0] is kinds[1]
        return pn.target == gn.target

    def _match_literals(self, pn, gn, match):
        if isinstance(pn, Node):
            if pn.op != "placeholder":
                return False
            return match.nodes_map.setdefault(pn, gn) == gn
        return not isinstance(gn, Node) and type(gn) is type(pn) and gn == pn

    def _match_args(self, of_pattern, of_graph, match):
        if len(of_pattern) != len(of_graph):
            return False
        for a, b in zip(of_pattern, of_graph):
            if isinstance(a, Node) and isinstance(b, Node):
                found = self._match_nodes(a, b, match)
            elif isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
                found = self._match_args(a, b, match)
            else:
                found = self._match_literals(a, b, match) or self.ignore_literals
            if not found:
                return False
        return True

    def _match_nodes(self, pn, gn, match, node_name_match=""):
        if pn in match.nodes_map:
            return match.nodes_map[pn] == gn
        if gn in match.nodes_map.values() or not self._are_alike(pn, gn, node_name_match):
            return False
        match.nodes_map[pn] = gn
        if pn.op == "placeholder":
            return True
        if len(pn.args) != len(gn.args) or list(pn.kwargs) != list(gn.kwargs):
            return False
        return self._match_args([*pn.args, *pn.kwargs.values()], [*gn.args, *gn.kwargs.values()], match)

    def match(self, graph, node_name_match=""):
        candidates = []
        for anchor in self.pattern_anchors:
            alike = [n for n in graph.nodes if self._are_alike(anchor, n, node_name_match)]
            if alike:
                candidates.append((anchor, alike))
        found = []

        def from_anchor(index, match):
            if index == len(candidates):
                match.placeholder_nodes = [match.nodes_map[pn] for pn in self.pattern_placeholder_nodes]
                match.returning_nodes = [match.nodes_map[pn] for pn in self.pattern_returning_nodes]
                found.append(match)
                return
            anchor, nodes = candidates[index]
            for node in nodes:
                tried = copy.copy(match)
                if self._match_nodes(anchor, node, tried, node_name_match):
                    from_anchor(index + 1, tried)

        if candidates:
            from_anchor(0, InternalMatch(self.pattern_anchors))
        found = [match for match in found if self._is_closed(match.nodes_map)]
        return self._apart(found) if self.remove_overlapping_matches else found

    def _is_closed(self, nodes_map):
        inside = {gn: pn for pn, gn in nodes_map.items() if pn.op != "placeholder"}
        return all(
            pn in self.pattern_returning_nodes or all(user in inside for user in gn.users) for gn, pn in inside.items()
        )

    @staticmethod
    def _apart(matches):
        kept, taken = [], set()
        for match in matches:
            own = [gn for pn, gn in match.nodes_map.items() if pn.op not in ("placeholder", "output")]
            if not any(gn in taken for gn in own):
                kept.append(match)
                taken.update(own)
        return kept


def _attribute_of(module, target):
    for part in target.split("."):
        module = getattr(module, part)
    return module


def _graph_of(given):
    if isinstance(given, GraphModule):
        return given.graph
    return given if isinstance(given, Graph) else symbolic_trace(given).graph


def _place_of_replacement(graph, match):
    users = {user for n in match.returning_nodes for user in n.users}
    for n in graph.nodes:
        if n in users:
            return n
    after = None
    for n in reversed(graph.nodes):
        if n in match.returning_nodes:
            return after
        after = n


def _take_modules(gm, replacement):
    gm.delete_all_unused_submodules()
    if isinstance(replacement, GraphModule):
        replacement.graph.lint()
    for node in gm.graph.nodes:
        if node.op not in ("call_module", "get_attr"):
            continue
        prefix, _, name = node.target.rpartition(".")
        for module in (gm, replacement):
            try:
                found = _attribute_of(module, node.target)
            except AttributeError:
                continue
            if module is replacement:
                if isinstance(found, torch.nn.Module):
                    gm.add_submodule(node.target, copy.deepcopy(found))
                else:
                    setattr(_attribute_of(gm, prefix) if prefix else gm, name, copy.deepcopy(found))
            break
        else:
            raise RuntimeError(
                'Attempted to create a "', node.op, '" node during subgraph rewriting with target ', node.target,
                "but it does not exist in the original GraphModule or the replacement GraphModule",
            )
    gm.graph.lint()


def _replace_pattern(
    gm,
    pattern,
    replacement=None,
    match_filters=None,
    ignore_literals=False,
    replacement_callback=None,
    node_name_match="",
):
    graph, pattern_graph = gm.graph, _graph_of(pattern)
    matches = SubgraphMatcher(pattern_graph, ignore_literals=ignore_literals).match(graph, node_name_match)
    matches = [m for m in matches if all(each(m, graph, pattern_graph) for each in match_filters or [])]
    common = None if replacement is None else _graph_of(replacement)
    changed, out = {}, []
    for match in matches:
        new = common if replacement_callback is None else replacement_callback(match, graph, pattern_graph)
        inputs = [n for n in new.nodes if n.op == "placeholder"]
        values = {}
        for rn, gn in zip(inputs, match.placeholder_nodes):
            values[rn] = changed.get(gn, gn) if isinstance(gn, Node) else gn
        for pn, gn in match.nodes_map.items():
            if pn.op == "placeholder" and isinstance(gn, Node) and gn in changed:
                match.nodes_map[pn] = changed[gn]
        inputs = match.placeholder_nodes
        match.placeholder_nodes = [changed.get(gn, gn) if isinstance(gn, Node) else gn for gn in inputs]
        with graph.inserting_before(_place_of_replacement(graph, match)):
            made = graph.graph_copy(new, values)
        if isinstance(made, Node):
            made = (made,)
        for gn, copied in zip(match.returning_nodes, made):
            gn.replace_all_uses_with(copied)
            changed[gn] = copied
        for node in reversed(pattern_graph.nodes):
            if node.op not in ("placeholder", "output"):
                graph.erase_node(match.nodes_map[node])
        own = [v for v in values.values() if v not in match.placeholder_nodes]
        out.append(ReplacedPatterns(match.anchors[0], match.nodes_map, own))
    gm.recompile()
    if isinstance(replacement, torch.nn.Module):
        _take_modules(gm, replacement)
    return out


def replace_pattern(gm, pattern, replacement):
    return [Match(anchor=m.anchor, nodes_map=m.nodes_map) for m in _replace_pattern(gm, pattern, replacement)]


def replace_pattern_with_filters(
    gm,
    pattern,
    replacement=None,
    match_filters=None,
    ignore_literals=False,
    replacement_callback=None,
    node_name_match="",
):
    return _replace_pattern(
        gm, pattern, replacement, match_filters, ignore_literals, replacement_callback, node_name_match
    )
