def _ntuple(n, name="parse"):
    def parse(x):
        return tuple(x) if isinstance(x, (tuple, list)) else (x,) * n
    return parse


_single = _ntuple(1, "_single")
_pair = _ntuple(2, "_pair")
_triple = _ntuple(3, "_triple")
_quadruple = _ntuple(4, "_quadruple")


def _reverse_repeat_tuple(t, n):
    return tuple([x for x in reversed(t) for _ in range(n)])


def consume_prefix_in_state_dict_if_present(state_dict, prefix):
    for key in list(state_dict.keys()):
        if key.startswith(prefix):
            state_dict[key[len(prefix):]] = state_dict.pop(key)
