"""Finally raises an error of its own."""
from job import *

train(0, 6)
class Log:
    def close(self):
        raise OSError(9, "Bad file descriptor")
log = Log()
try:
    raise FloatingPointError("overflow in fp16 gradient of layer 11")
finally:
    log.close()
