import os

__path__.append(os.environ["CONFORMANCE_SUITE"])
