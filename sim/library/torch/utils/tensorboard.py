import _tidemark
import torch


def _inputs(args):
    return tuple([each.detach().clone() if isinstance(each, torch.Tensor) else each for each in args])


def _agree(left, right):
    """what compares the results of two runs: as torch.jit's check does it, in numbers of twice the width"""
    if isinstance(left, torch.Tensor):
        torch.all(torch.isclose(left.double(), right.double(), rtol=1e-5, atol=1e-5, equal_nan=True))
    elif isinstance(left, dict):
        for key in left:
            _agree(left[key], right[key])
    elif isinstance(left, (list, tuple)):
        for one, other in zip(left, right):
            _agree(one, other)


def _trace(model, args):
    """torch.jit.trace() of a model: it runs as it is, and four times more for the check of what was traced"""
    _tidemark.note("what add_graph traced drops each value at its last use: its runs are taken as the model's own code")
    args = args if isinstance(args, tuple) else (args,)
    model(*args)
    with torch.no_grad():
        copies = _inputs(args)
        model(*copies)
        runs = []
        for _ in range(2):
            runs.append(model(*_inputs(args)))
        _agree(*runs)
        runs.append(model(*_inputs(args)))
        _agree(runs[0], runs[2])


class SummaryWriter:
    """writes nothing: what is logged is read back on the host"""

    def __init__(self, log_dir=None, comment="", *args, **kwargs):
        self.log_dir = str(log_dir) if log_dir else "runs/run" + comment

    def get_logdir(self):
        return self.log_dir

    def _nothing(self, *args, **kwargs):
        pass

    add_scalar = add_scalars = add_histogram = add_image = add_images = add_figure = add_text = add_hparams = _nothing
    add_embedding = add_video = add_audio = add_mesh = add_pr_curve = add_custom_scalars = flush = close = _nothing

    def add_graph(self, model, input_to_model=None, verbose=False, use_strict_trace=True):
        trained = model.training
        model.eval()
        try:
            _trace(model, input_to_model)
        finally:
            model.train(trained)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass
