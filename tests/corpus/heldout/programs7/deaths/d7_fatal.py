from kitd7 import *
train(4)
ctypes.pythonapi.Py_FatalError.argtypes = [ctypes.c_char_p]
ctypes.pythonapi.Py_FatalError(b"tensor cache: reference count is below zero")
