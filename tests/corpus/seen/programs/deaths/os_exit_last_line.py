"""Os._exit; the reason is the last line of stdout."""
from job import *

train(0, 10)
print("FATAL data version 7 is newer than this trainer (6)", flush=True)
os._exit(4)
