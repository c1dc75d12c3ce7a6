"""processes that a program starts: what its own process sees of them"""
import multiprocessing
import torch
import torch.multiprocessing as mp


def work(rank, steps=1):
    for _ in range(steps):
        torch.zeros(rank + 1)


class Player(mp.Process):
    def __init__(self, number):
        super().__init__(name=f"player {number}", daemon=True)
        self.number = number

    def run(self):
        torch.zeros(self.number)


processes = [mp.Process(target=work, args=(r,), kwargs={"steps": 2}) for r in range(2)]
print([(p.exitcode, p.pid, p.daemon) for p in processes], mp.Process is multiprocessing.Process)
for p in processes:
    p.start()
for p in processes:
    p.join()
print([p.exitcode for p in processes], [p.is_alive() for p in processes], [p.pid is None for p in processes])
player = Player(3)
print(player.name, player.daemon, player.exitcode)
player.start()
player.join(timeout=60)
print(player.exitcode, isinstance(player, mp.Process))
try:
    player.start()
except AssertionError as error:
    print(error)
try:
    mp.Process(target=work).join()
except AssertionError as error:
    print(error)
context = mp.get_context("fork")
print(context.get_start_method(), context.Process(target=work).is_alive())
try:
    mp.get_context("thread")
except ValueError as error:
    print(error)
