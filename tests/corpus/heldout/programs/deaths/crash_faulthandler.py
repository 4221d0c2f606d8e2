"""Faulthandler tells where Python was."""
from job import *

import ctypes, faulthandler
faulthandler.enable()
train(0, 50)
def gather_rows():
    ctypes.string_at(0)
gather_rows()
