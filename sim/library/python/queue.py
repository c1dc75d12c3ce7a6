import heapq

import _threads


class Empty(Exception):
    pass


class Full(Exception):
    pass


class Queue:
    def __init__(self, maxsize=0):
        self.maxsize, self.queue, self._beyond = maxsize, [], 0

    def _put(self, item):
        self.queue.append(item)

    def _get(self):
        return self.queue.pop(0)

    def put(self, item, block=True, timeout=None):
        if self.full():
            self._make_room(block)
        self._put(item)

    def _make_room(self, block):
        """A thread that fills the queue goes on: who empties it comes later."""
        if block and _threads.is_inside() and self._beyond < 1000:
            self._beyond += 1
        elif block and _threads.is_inside():
            _threads.wait_here()
        elif not block or not _threads.wait_here() or self.full():
            raise Full

    def get(self, block=True, timeout=None):
        if not self.queue and block:
            _threads.wait_here()
        if not self.queue:
            raise Empty
        return self._get()

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
        if self.queue:
            _threads.wait_here()


SimpleQueue = Queue


class LifoQueue(Queue):
    def _get(self):
        return self.queue.pop()


class PriorityQueue(Queue):
    def _put(self, item):
        heapq.heappush(self.queue, item)

    def _get(self):
        return heapq.heappop(self.queue)
