class _Run:
    """what a run is told goes nowhere: it is read back on the host"""

    def __init__(self, config=None, name=None, project=None):
        self.config, self.summary, self.name, self.project, self.id = (
            _Run._Settings(config),
            {},
            name,
            project,
            "offline",
        )

    class _Settings(dict):
        def __init__(self, values=None):
            super().__init__()
            self.update(values)

        def update(self, values=None, allow_val_change=False, **more):
            super().update(dict(values) if isinstance(values, dict) else vars(values) if values is not None else {})
            super().update(more)

        def __getattr__(self, name):
            if name not in self:
                raise AttributeError(name)
            return self[name]

        def __setattr__(self, name, value):
            self[name] = value

    def log(self, *args, **kwargs):
        pass

    finish = watch = save = log_artifact = define_metric = alert = log

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass


config, summary, run = _Run._Settings(), {}, None


def _begin(made):
    global run, config, summary
    run, config, summary = made, made.config, made.summary
    return made


def init(project=None, config=None, name=None, **options):
    return _begin(_Run(config, name, project))


def log(*args, **kwargs):
    pass


def Image(data, *args, **kwargs):
    return data


watch = unwatch = finish = save = login = define_metric = alert = log
Table = Histogram = Settings = Artifact = Image
