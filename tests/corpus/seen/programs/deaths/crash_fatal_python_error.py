"""Fatal Python error."""
from job import *

import ctypes
train(0, 50)
ctypes.pythonapi.Py_FatalError.argtypes = [ctypes.c_char_p]
ctypes.pythonapi.Py_FatalError(b"deallocating None")
