"""A thread that watches the memory ends its own process by SIGKILL when a budget is passed."""
import threading

from kitd15 import *


def guard():
    time.sleep(8)
    os.kill(os.getpid(), signal.SIGKILL)


role("main")
threading.Thread(target=guard, name="memory-guard", daemon=True).start()
told(600)
