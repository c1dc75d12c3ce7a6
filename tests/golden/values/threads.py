"""Threads that run to their end, that wait for others, and that fail."""
import queue
import threading
import time

import torch


class Prefetcher(threading.Thread):
    def __init__(self, generator, most=2):
        threading.Thread.__init__(self)
        self.queue, self.generator, self.daemon = queue.Queue(most), generator, True
        self.start()

    def run(self):
        for item in self.generator:
            self.queue.put(item)
        self.queue.put(None)

    def __iter__(self):
        return self

    def __next__(self):
        item = self.queue.get()
        if item is None:
            raise StopIteration
        return item


print([tuple(x.shape) for x in Prefetcher(torch.zeros(i + 1, 2) for i in range(5))])

results, lock = {}, threading.Lock()


def square(i, by=1):
    with lock:
        results[i] = i * i * by


threads = [threading.Thread(target=square, args=(i,), kwargs={"by": 2}, name=f"w{i}") for i in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(results, threads[1].name, threads[0].is_alive(), threading.current_thread().name)

jobs, done = queue.Queue(), []


def worker():
    while True:
        job = jobs.get()
        if job is None:
            break
        done.append(job * 10)
        jobs.task_done()


pool = [threading.Thread(target=worker) for _ in range(2)]
for thread in pool:
    thread.start()
for i in range(4):
    jobs.put(i)
jobs.join()
for _ in pool:
    jobs.put(None)
for thread in pool:
    thread.join()
print(sorted(done), [thread.is_alive() for thread in pool])

stop = threading.Event()
watched = []


def watch():
    while not stop.is_set():
        time.sleep(0.001)
    watched.append("stopped")


watcher = threading.Thread(target=watch, daemon=True)
watcher.start()
stop.set()
watcher.join()
print(watched, watcher.is_alive())

timer = threading.Timer(0.001, stop.clear)
late = threading.Event()
other = threading.Timer(0.001, late.set)
timer.start()
timer.cancel()
other.start()
print(late.wait(1.0), stop.is_set())

try:
    threads[0].start()
except RuntimeError as error:
    print(error)
try:
    threading.Thread(target=square).join()
except RuntimeError as error:
    print(error)
