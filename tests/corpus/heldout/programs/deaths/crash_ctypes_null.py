"""A null pointer in an extension."""
from job import *

import ctypes
warm()
ctypes.string_at(0)
