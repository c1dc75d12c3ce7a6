"""Arrays of a million rows that a loop fills, as a memory of transitions is; draws without putting back."""
import numpy as np
import torch

np.random.seed(3)
rows = np.zeros((1000000, 4))
kept = None
for i in range(200):
    rows[i] = i * 0.5
    rows[i, 1] = -1.0
    if i == 100:
        kept = rows.copy()
    if i % 7 == 0:
        rows[i + 1] = rows[i]
    if i % 50 == 49:
        print(i, rows[i], rows[i - 1], rows[999999])
print(rows[np.array([3, 99, 199])].sum(), kept[100], kept[150], rows[150])
numbers = torch.zeros(1000000, dtype=torch.int64)
for i in range(150):
    numbers[i::100000] = i
print(numbers[100007].item(), numbers[149].item(), int(numbers.sum()))
for _ in range(3):
    print(np.random.choice(400, size=2, replace=False), np.random.choice(9, replace=False))
print(np.random.choice(6, size=(2, 3), replace=False), np.random.randint(1000))
print(np.random.choice([4.5, 2.5, 9.0], size=2, replace=False), np.random.choice(np.array([7, 8]), 2, replace=False))
try:
    np.random.choice(3, size=4, replace=False)
except ValueError as e:
    print(e)
print(np.random.multinomial(9, [0.5, 0.5]).shape, np.random.multinomial(9, [0.2, 0.3, 0.5], size=(2, 4)).shape)
