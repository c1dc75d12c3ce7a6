# A tensor that backward needs was written over since: PyTorch's error, in its words.
import torch


def attempt(function):
    try:
        function()
        print("no error")
    except RuntimeError as error:
        print(error)


def a_result():
    w = torch.ones(4, device="cuda", requires_grad=True)
    y = w.exp()
    y += 1
    y.sum().backward()


def an_argument():
    w = torch.ones(4, device="cuda", requires_grad=True)
    m = torch.ones(4, device="cuda")
    y = w * m
    m.add_(1)
    y.sum().backward()


def through_a_view():
    w = torch.ones(4, 4, device="cuda", requires_grad=True)
    x = torch.ones(4, 4, device="cuda")
    y = x @ w
    x[0] = 2
    y.sum().backward()


def by_a_module():
    w = torch.ones(4, device="cuda", requires_grad=True)
    torch.nn.ReLU(inplace=True)(w.sigmoid()).sum().backward()


def detached():
    w = torch.ones(4, device="cuda", requires_grad=True)
    h = w * 2
    y = h * h
    h.detach().zero_()
    y.sum().backward()


def by_data():
    w = torch.ones(4, device="cuda", requires_grad=True)
    h = w * 2
    y = h * h
    h.data.zero_()
    y.sum().backward()


for function in (a_result, an_argument, through_a_view, by_a_module, detached, by_data):
    attempt(function)
