from matplotlib._nothing import __getattr__
from matplotlib.pyplot import get_fignums, subplots
