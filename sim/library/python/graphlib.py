from types import GenericAlias

__all__ = ["TopologicalSorter", "CycleError"]


class CycleError(ValueError):
    pass


class TopologicalSorter:
    __class_getitem__ = classmethod(GenericAlias)

    def __init__(self, graph=None):
        self._after, self._missing = {}, {}  # node -> those that wait for it; node -> how many it waits for
        self._ready, self._out, self._started, self._finished = [], 0, False, 0
        for node, predecessors in (graph or {}).items():
            self.add(node, *predecessors)

    def add(self, node, *predecessors):
        if self._started:
            raise ValueError("Nodes cannot be added after a call to prepare()")
        for each in (node, *predecessors):
            if each not in self._after:
                self._after[each], self._missing[each] = [], 0
        for each in predecessors:
            self._after[each].append(node)
        self._missing[node] += len(predecessors)

    def prepare(self):
        if self._started:
            raise ValueError("cannot prepare() more than once")
        self._started = True
        self._ready = [node for node, missing in self._missing.items() if missing == 0]
        cycle = self._cycle()
        if cycle:
            raise CycleError("nodes are in a cycle", cycle)

    def _cycle(self):
        done = set()
        for start in self._after:
            path, places, steps = [], {}, []
            node = start
            while node not in done:
                if node in places:
                    return path[places[node]:] + [node]
                places[node] = len(path)
                path.append(node)
                steps.append(iter(self._after[node]))
                node = None
                while node is None and steps:
                    for each in steps[-1]:
                        if each not in done:
                            node = each
                            break
                    else:
                        steps.pop()
                        left = path.pop()
                        del places[left]
                        done.add(left)
                if node is None:
                    break
        return None

    def _need_start(self):
        if not self._started:
            raise ValueError("prepare() must be called first")

    def get_ready(self):
        self._need_start()
        ready, self._ready = tuple(self._ready), []
        for node in ready:
            self._missing[node] = -1
        self._out += len(ready)
        return ready

    def is_active(self):
        self._need_start()
        return self._finished < self._out or bool(self._ready)

    def __bool__(self):
        return self.is_active()

    def done(self, *nodes):
        self._need_start()
        for node in nodes:
            if node not in self._missing:
                raise ValueError(f"node {node!r} was not added using add()")
            if self._missing[node] >= 0:
                raise ValueError(f"node {node!r} was not passed out (still not ready)")
            if self._missing[node] == -2:
                raise ValueError(f"node {node!r} was already marked done")
            self._missing[node] = -2
            self._finished += 1
            for each in self._after[node]:
                self._missing[each] -= 1
                if self._missing[each] == 0:
                    self._ready.append(each)

    def static_order(self):
        self.prepare()
        while self.is_active():
            ready = self.get_ready()
            yield from ready
            self.done(*ready)
