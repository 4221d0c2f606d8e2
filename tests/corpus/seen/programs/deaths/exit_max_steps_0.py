"""Traceback of a test was printed on purpose."""
from job import *

import traceback
train(0, 20)
print("".join(traceback.format_exception(ValueError("this is the self test of the error page"))))
print("self test ok")
