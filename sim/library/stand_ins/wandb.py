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


def init(project=None, config=None, name=None, **options):
    global run
    run = _Run(config, name, project)
    return run


def log(*args, **kwargs):
    pass


def Image(data, *args, **kwargs):
    return data


watch = unwatch = finish = save = login = define_metric = alert = log
Table = Histogram = Settings = Artifact = Image
