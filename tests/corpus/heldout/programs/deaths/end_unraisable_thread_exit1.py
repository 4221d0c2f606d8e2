"""The checkpoint thread fails; the main thread sees its flag and leaves with 1 and a line."""
from job import *

bad = threading.Event()
def saver():
    try:
        raise OSError(122, "Disk quota exceeded", "/ckpt/step_20")
    except OSError:
        bad.set()
        raise
threading.Thread(target=saver).start()
train(0, 20)
if bad.is_set():
    print("asynchronous checkpoint failed, see above", flush=True)
    sys.exit(1)
