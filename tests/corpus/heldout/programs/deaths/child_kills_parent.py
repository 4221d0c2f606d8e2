"""A watchdog child ends its parent."""
from job import *

role("main")
def watchdog():
    time.sleep(3)
    os.kill(os.getppid(), signal.SIGTERM)
fork("watchdog", watchdog)
warm()
train(25, 400, 0.1)
