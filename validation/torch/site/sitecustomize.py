"""Python imports this as it starts: processes that a recorded program starts are watched too. The machine's own follows."""
import importlib.machinery
import importlib.util
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def load(name, path):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if os.environ.get("TIDEMARK_WATCH"):
    load("tidemark_watched", os.path.join(os.path.dirname(HERE), "watched.py")).watch_this_process(os.environ["TIDEMARK_WATCH"])
other = importlib.machinery.PathFinder.find_spec("sitecustomize", [p for p in sys.path if os.path.abspath(p or ".") != HERE])
if other and other.origin:
    load("sitecustomize", other.origin)
