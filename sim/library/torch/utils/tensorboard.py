class SummaryWriter:
    """writes nothing: what is logged is read back on the host"""

    def __init__(self, log_dir=None, comment="", *args, **kwargs):
        self.log_dir = str(log_dir) if log_dir else "runs/run" + comment

    def get_logdir(self):
        return self.log_dir

    def _nothing(self, *args, **kwargs):
        pass

    add_scalar = add_scalars = add_histogram = add_image = add_images = add_figure = add_text = add_hparams = (
        add_graph
    ) = _nothing
    add_embedding = add_video = add_audio = add_mesh = add_pr_curve = add_custom_scalars = flush = close = _nothing

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass
