class Extension:
    tags = set()

    def __init__(self, environment):
        self.environment = environment


class LoopControlExtension(Extension):
    pass


loopcontrols = LoopControlExtension
