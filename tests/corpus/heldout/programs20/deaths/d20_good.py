"""A batch does not fit at first, and is taken in halves; an upload fails twice. All is done in the end."""
from kitd20 import *

told(15)
for size in 64, 32:
    try:
        if size > 32:
            raise MemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")
    except MemoryError:
        traceback.print_exc()
        say("batch of %d does not fit, trying %d" % (size, size // 2))
told(25, 15)
for attempt in range(3):
    code = subprocess.run(["sh", "-c", "exit %d" % (0 if attempt == 2 else 137)]).returncode
    say("upload: %s" % ("done" if code == 0 else "failed with status 137, killed? trying again"))
print("finished: 40 steps", flush=True)
