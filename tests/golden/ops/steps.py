# What is done with one operator, twice. The cases say what `dt`, `forward`, `leaves`, `no_grad` are. PyTorch runs this
# text as it is when the events are recorded.
for run in ("cold", "warm"):
    mark(run + " forward")
    with torch.set_grad_enabled(not no_grad):
        given = forward()
    mark(run + " grad")
    outs = [t for t in (given if isinstance(given, (tuple, list)) else [given]) if isinstance(t, torch.Tensor)]
    diff = [t for t in outs if t.requires_grad and t.grad_fn is not None]
    del given
    if diff:
        grads = [torch.ones_like(t) for t in diff]
        mark(run + " backward")
        torch.autograd.backward(diff, grads)
        mark(run + " drop_incoming")
        del grads
    mark(run + " drop_out")
    del outs, diff
    mark(run + " drop_grads")
    for p in leaves:
        p.grad = None
    mark("after")
