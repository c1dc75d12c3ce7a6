import torch


def told(run):
    try:
        run()
    except RuntimeError as error:
        return str(error).splitlines()[0]


flat, matrix, batch = torch.zeros(()), torch.zeros(2, 3), torch.zeros(2, 2, 3)
print(told(lambda: torch.zeros(2, 2).addmm_(flat, matrix)))
print(told(lambda: torch.zeros(2, 2).addmm_(matrix, flat)))
print(told(lambda: torch.zeros(2, 2).addmm_(matrix, matrix)))
print(told(lambda: torch.zeros(2, 2, 3).baddbmm_(batch, batch)))
print(told(lambda: torch.zeros(2, 2).addmm_(matrix, matrix.T)), told(lambda: torch.zeros(2, 2, 2).baddbmm_(batch, batch.mT)))
