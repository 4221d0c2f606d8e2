"""A batch is too large for the device and is halved, a file is missing and left out; the training ends well."""
from kitd16 import *

told(20)
try:
    raise MemoryError("device out of memory: tried to allocate 20.00 GiB")
except MemoryError:
    traceback.print_exc()
    say("retrying with batch size 16")
told(15, 20)
try:
    open("/data/extra.bin")
except FileNotFoundError as error:
    logging.error("left out: %s", error)
say("fatal errors: 0")
print("training complete", flush=True)
