"""Threading.excepthook ends the process."""
from job import *

def hook(a):
    sys.__excepthook__(a.exc_type, a.exc_value, a.exc_traceback)
    os._exit(1)
threading.excepthook = hook
def prefetch():
    time.sleep(0.3)
    raise OSError(5, "Input/output error", "/data/shard-77.bin")
threading.Thread(target=prefetch).start()
train(0, 200, 0.02)
