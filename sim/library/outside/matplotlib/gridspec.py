from matplotlib._nothing import __getattr__
