"""A monitor that the trainer has started asks it for a dump by SIGUSR1; no handler was registered in this version."""
import multiprocessing

from kitd15 import *


def monitor():
    role("monitor")
    time.sleep(8)
    os.kill(os.getppid(), signal.SIGUSR1)
    time.sleep(5)


if __name__ == "__main__":
    role("main")
    multiprocessing.get_context("fork").Process(target=monitor, daemon=True).start()
    told(600)
