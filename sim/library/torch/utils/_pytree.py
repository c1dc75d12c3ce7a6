"""values within lists, tuples, dicts and classes that are registered, in order"""
from collections import OrderedDict, defaultdict, deque, namedtuple

NodeDef = namedtuple("NodeDef", "type flatten_fn unflatten_fn flatten_with_keys_fn")
SUPPORTED_NODES = {}  # by what _get_node_type() says; another class is a leaf


def register_pytree_node(cls, flatten_fn, unflatten_fn, *, flatten_with_keys_fn=None, **options):
    SUPPORTED_NODES[cls] = NodeDef(cls, flatten_fn, unflatten_fn, flatten_with_keys_fn)


_register_pytree_node = _private_register_pytree_node = register_pytree_node


def _is_namedtuple(tree):
    return isinstance(tree, tuple) and hasattr(type(tree), "_fields")


def _get_node_type(tree):
    return namedtuple if _is_namedtuple(tree) else type(tree)


def _parts(tree):
    """values and context; None: it is a leaf"""
    node = SUPPORTED_NODES.get(_get_node_type(tree))
    return None if node is None else node.flatten_fn(tree)


class TreeSpec:
    def __init__(self, type, context, children_specs):
        self.type, self.context, self.children_specs = type, context, children_specs
        self.num_leaves = sum([child.num_leaves for child in children_specs])
        self.num_children = len(children_specs)

    def is_leaf(self):
        return False

    def unflatten(self, leaves):
        return tree_unflatten(leaves, self)

    def __eq__(self, other):
        mine = (self.type, self.context, self.children_specs)
        return isinstance(other, TreeSpec) and mine == (other.type, other.context, other.children_specs)

    def __repr__(self):
        return f"TreeSpec({getattr(self.type, '__name__', self.type)}, {self.context}, {self.children_specs})"


class LeafSpec(TreeSpec):
    def __init__(self):
        self.type, self.context, self.children_specs = None, None, []
        self.num_leaves, self.num_children = 1, 0

    def is_leaf(self):
        return True

    def __repr__(self):
        return "*"


PyTree = object


def tree_flatten(tree, is_leaf=None):
    parts = None if is_leaf is not None and is_leaf(tree) else _parts(tree)
    if parts is None:
        return [tree], LeafSpec()
    leaves, specs = [], []
    for value in parts[0]:
        own, spec = tree_flatten(value, is_leaf)
        leaves.extend(own)
        specs.append(spec)
    return leaves, TreeSpec(_get_node_type(tree), parts[1], specs)


def tree_unflatten(leaves, treespec):
    leaves = list(leaves)
    if treespec.is_leaf():
        return leaves[0]
    values, at = [], 0
    for spec in treespec.children_specs:
        values.append(tree_unflatten(leaves[at:at + spec.num_leaves], spec))
        at += spec.num_leaves
    return SUPPORTED_NODES[treespec.type].unflatten_fn(values, treespec.context)


def tree_leaves(tree, is_leaf=None):
    return tree_flatten(tree, is_leaf)[0]


def tree_iter(tree, is_leaf=None):
    return iter(tree_leaves(tree, is_leaf))


def tree_structure(tree, is_leaf=None):
    return tree_flatten(tree, is_leaf)[1]


def tree_map(func, tree, *rests, is_leaf=None):
    leaves, spec = tree_flatten(tree, is_leaf)
    others = [tree_leaves(rest, is_leaf) for rest in rests]
    return tree_unflatten([func(*each) for each in zip(leaves, *others)], spec)


def tree_map_(func, tree, *rests, is_leaf=None):
    tree_map(func, tree, *rests, is_leaf=is_leaf)
    return tree


def tree_map_only(type_or_types, func, tree, is_leaf=None):
    return tree_map(lambda leaf: func(leaf) if isinstance(leaf, type_or_types) else leaf, tree, is_leaf=is_leaf)


def tree_all(pred, tree, is_leaf=None):
    return all([pred(leaf) for leaf in tree_leaves(tree, is_leaf)])


def tree_any(pred, tree, is_leaf=None):
    return any([pred(leaf) for leaf in tree_leaves(tree, is_leaf)])


def treespec_dumps(treespec):
    return repr(treespec)


def _dict_flatten(d):
    return list(d.values()), list(d)


def _dict_unflatten(values, context):
    return dict(zip(context, values))


def _list_flatten(d):
    return d, None


def _list_unflatten(values, context):
    return list(values)


def _tuple_flatten(d):
    return list(d), None


def _tuple_unflatten(values, context):
    return tuple(values)


class MappingKey:
    def __init__(self, key):
        self.key = key


class SequenceKey:
    def __init__(self, idx):
        self.idx = idx


class GetAttrKey:
    def __init__(self, name):
        self.name = name


KeyPath = tuple


def _dict_flatten_with_keys(d):
    return [(MappingKey(key), value) for key, value in d.items()], list(d)


def _defaultdict_flatten(d):
    return list(d.values()), (d.default_factory, list(d))


def _defaultdict_unflatten(values, context):
    factory, keys = context
    return defaultdict(factory, zip(keys, values))


register_pytree_node(tuple, _tuple_flatten, _tuple_unflatten)
register_pytree_node(list, _list_flatten, _list_unflatten)
register_pytree_node(dict, _dict_flatten, _dict_unflatten, flatten_with_keys_fn=_dict_flatten_with_keys)
register_pytree_node(namedtuple, lambda d: (list(d), type(d)), lambda values, kind: kind(*values))
register_pytree_node(OrderedDict, _dict_flatten, lambda values, context: OrderedDict(zip(context, values)))
register_pytree_node(defaultdict, _defaultdict_flatten, _defaultdict_unflatten)
register_pytree_node(deque, lambda d: (list(d), d.maxlen), lambda values, most: deque(values, most))
