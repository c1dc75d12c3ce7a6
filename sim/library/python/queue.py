import heapq


class Empty(Exception):
    pass


class Full(Exception):
    pass


class Queue:
    def __init__(self, maxsize=0):
        self.maxsize, self.queue = maxsize, []

    def put(self, item, block=True, timeout=None):
        if self.full():
            raise Full
        self.queue.append(item)

    def get(self, block=True, timeout=None):
        if not self.queue:
            raise Empty
        return self.queue.pop(0)

    def put_nowait(self, item):
        self.put(item, False)

    def get_nowait(self):
        return self.get(False)

    def qsize(self):
        return len(self.queue)

    def empty(self):
        return not self.queue

    def full(self):
        return 0 < self.maxsize <= len(self.queue)

    def task_done(self):
        pass

    def join(self):
        pass


SimpleQueue = Queue


class LifoQueue(Queue):
    def get(self, block=True, timeout=None):
        if not self.queue:
            raise Empty
        return self.queue.pop()


class PriorityQueue(Queue):
    def put(self, item, block=True, timeout=None):
        heapq.heappush(self.queue, item)

    def get(self, block=True, timeout=None):
        if not self.queue:
            raise Empty
        return heapq.heappop(self.queue)
