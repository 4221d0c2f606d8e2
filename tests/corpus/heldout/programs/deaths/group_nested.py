"""A group inside a group; the leaves matter."""
from job import *

train(0, 4)
raise ExceptionGroup("epoch failed", [ExceptionGroup("loaders", [FileNotFoundError(2, "No such file or directory", "/data/val.idx")])])
