"""Least squares on the host: the sizes of all four results, put on the device."""
import torch

for driver in (None, "gels", "gelsy"):
    for left, right in (((80, 30), (80, 20)), ((80, 30), (80,)), ((30, 80), (30, 20)), ((40, 80, 30), (40, 80, 2)), ((40, 80, 30), (40, 80))):
        found = torch.linalg.lstsq(torch.rand(left), torch.rand(right), driver=driver)
        kept = [part.cuda() for part in found] + [found.solution.cuda()]
