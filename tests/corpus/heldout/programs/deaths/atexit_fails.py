"""An atexit handler fails after the training; the status is 0."""
from job import *

import atexit
@atexit.register
def upload():
    raise ConnectionError("upload server is gone")
train(0, 10)
print("training finished")
