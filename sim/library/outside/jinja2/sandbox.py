import jinja2


class SandboxedEnvironment(jinja2.Environment):
    pass


class ImmutableSandboxedEnvironment(SandboxedEnvironment):
    pass
