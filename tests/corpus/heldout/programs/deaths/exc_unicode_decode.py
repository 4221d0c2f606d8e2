"""A data file that is not UTF-8."""
from job import *

import tempfile
f = tempfile.NamedTemporaryFile(suffix=".txt")
f.write("ein schöner Satz".encode("latin-1"))
f.flush()
train(0, 4)
open(f.name, encoding="utf-8").read()
